"""Checks of segments, partitions, directories and snapshots."""
