"""The run of `kafkadouble serve`, after its options are read."""
