"""Scenarios as files, in TOML, YAML and JSON, with the place of every value."""
