"""What the Fetch handler uses: fetch sessions (KIP-227) and reading from the logs."""
