"""Says that a name does not exist, and which names do.

Rules. A wait looks for a name after each request, so the words are made only when they are read.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.server.configs.did_you_mean import near

from .errors import KafkaError
from .plural import counted

if TYPE_CHECKING:
    from kafkadouble.server.metadata.image import Image

MANY = 10
"""So many names a message has."""


def missing(kind: str, name: str, names: Collection[str]) -> str:
    """`there is no topic 'order'; did you mean 'orders'? There are invoices, orders`."""
    if not names:
        return f"there is no {kind} {name!r}, and no other one"
    shown = ", ".join(sorted(names)[:MANY]) + (f" and {len(names) - MANY} more" if len(names) > MANY else "")
    end = f"{meant} There" if (meant := near(name, names)) else "; there"
    return f"there is no {kind} {name!r}{end} {'is' if len(names) == 1 else 'are'} {shown}"


def no_partition(image: Image, topic: str, partition: int | None = None) -> KafkaError:
    """`there is no order-0; did you mean 'orders'?`, with the number of partitions if the topic
    exists."""

    def words() -> str:
        place = topic if partition is None else f"{topic}-{partition}"
        found = image.topic_named(topic)
        if found is None:
            return f"there is no {place}{near(topic, image.topic_ids)}"
        return f"there is no {place}: {topic} has {counted(len(found.partitions), 'partition')}"

    return KafkaError(error_codes.UNKNOWN_TOPIC_OR_PARTITION, words)
