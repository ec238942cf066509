"""Nodes of the server that run in this process: one broker, or the members of a cluster."""
