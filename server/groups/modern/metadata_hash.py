"""The hash of the topics that a group subscribes to (KIP-1101).

A group computes a new assignment when this hash changes: a topic was created or deleted, or has
more partitions, or a replica moved to another rack. The hash is in the group's records, so it must
be Kafka's: XXH3 with 64 bits over little-endian values; a text is its UTF-16 code units, followed
by their number.
"""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from struct import pack
from typing import Any

from ...java.strings import java_length
from ...metadata.image import Image, TopicImage

MAGIC = 0
"""The version of this way to hash a topic, its first byte."""


def compute_topic_hash(topic: TopicImage, image: Image) -> int:
    """Returns the hash of a topic, a signed 64-bit number."""
    most, least = (int.from_bytes(half, "big") for half in (topic.id[:8], topic.id[8:]))
    hasher = _hasher(pack("<BQQ", MAGIC, most, least))
    hasher.update(_text(topic.name) + pack("<i", len(topic.partitions)))
    for index, partition in topic.in_order():
        hasher.update(pack("<i", index))
        brokers = (image.brokers.get(id) for id in partition.replicas)
        for rack in sorted([broker.rack for broker in brokers if broker is not None and broker.rack is not None]):
            hasher.update(pack("<i", java_length(rack)) + _text(rack))
    return _signed(hasher.intdigest())


def compute_metadata_hash(names: Iterable[str], cache: MutableMapping[str, int], image: Image) -> int:
    """Returns the hash of those of the topics that exist; 0 if none does.

    `cache` maps topic name -> hash of the topic in this image.
    """
    hashes = []
    for name in sorted(names):
        topic = image.topic_named(name)
        if topic is None:
            continue
        if name not in cache:
            cache[name] = compute_topic_hash(topic, image)
        hashes.append(cache[name])
    return _signed(_hasher(pack(f"<{len(hashes)}q", *hashes)).intdigest()) if hashes else 0


def _hasher(start: bytes) -> Any:
    import xxhash  # on first use: only groups of the newer protocols need it

    return xxhash.xxh3_64(start)


def _text(value: str) -> bytes:
    return value.encode("utf-16-le", "surrogatepass") + pack("<i", java_length(value))


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
