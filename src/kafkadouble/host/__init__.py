"""The parts of a double that its verbs use: the running cluster, the clock, and the users."""
