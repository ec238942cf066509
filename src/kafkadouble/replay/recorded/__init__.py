"""Recordings: requests with their answers, in an order in which each can be sent."""
