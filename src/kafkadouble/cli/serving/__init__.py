"""Runs `kafkadouble serve` after its options were parsed."""
