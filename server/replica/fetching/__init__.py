"""Fetch sessions (KIP-227) and reading from the logs, for the Fetch handler."""
