"""What the Fetch handler is made of: incremental sessions (KIP-227) and the reading of one partition."""
