"""What `kafkadouble serve` does after its options are read."""
