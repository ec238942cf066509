"""Verbs about topics, records, groups and transactions."""
