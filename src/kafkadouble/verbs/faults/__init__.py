"""Verbs that arm fault rules."""
