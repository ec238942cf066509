"""Finds habits of clients that hurt in production, in the requests that were seen."""
