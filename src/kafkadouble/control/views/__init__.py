"""Views of a double for the page and for monitoring."""
