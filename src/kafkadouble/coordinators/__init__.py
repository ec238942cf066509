"""What coordinators hold: groups of every protocol, and transactions."""
