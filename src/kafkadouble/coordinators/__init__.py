"""The state of coordinators: groups of every protocol, and transactions."""
