"""Calls of verbs over HTTP, and the log of them."""
