"""The parameters of verbs: which values each takes, and what it says of others."""
