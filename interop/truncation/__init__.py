"""Kafka's own consumer beside us, for tests of what it does when records are lost."""
