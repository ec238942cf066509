"""Keeps the replicas of a partition equal: the leader's ISR, and the fetches of followers."""
