"""Verbs about the double, its brokers, and who connects to them."""
