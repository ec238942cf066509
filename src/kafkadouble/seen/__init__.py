"""Requests that brokers saw, as values: filters, near misses, captures, metrics of clients."""
