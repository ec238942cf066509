"""The words of `kafkadouble ctl` for the verbs of a double and their results."""
