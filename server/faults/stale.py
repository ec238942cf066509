"""A node whose metadata stands still, for answers from what was true a while ago."""

from __future__ import annotations

from typing import Any

from ..metadata.image import Image

APIS = ("Metadata", "DescribeCluster", "DescribeTopicPartitions")
"""The APIs that answer from the metadata alone."""


class StaleNode:
    """Everything but `image` is that of the node."""

    def __init__(self, node: Any, image: Image) -> None:
        self._node, self.image = node, image

    def __getattr__(self, name: str) -> Any:
        return getattr(self._node, name)
