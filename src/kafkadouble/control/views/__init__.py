"""What the page and monitoring see of a double."""
