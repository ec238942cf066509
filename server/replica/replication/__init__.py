"""What makes the replicas of a partition equal: the leader that knows who has what, and the followers that fetch from it (KIP-101, KIP-279)."""
