"""Brokers of a double: handles, membership, descriptions, snapshots, and their settings."""
