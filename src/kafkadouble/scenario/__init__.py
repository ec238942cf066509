"""Scenario files: what a double starts with, in YAML or TOML. Imported only when one is given."""
