"""The topics to which a member subscribes, as ids instead of names."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator

from kafkadouble.messages.uuid import Uuid


class TopicIds(Collection[Uuid]):
    """The ids of topics, in the order of their names.

    As in Kafka, its length counts every name, also of topics that do not exist; iteration skips
    those. `topic_names` iterates in Kafka's order; `topic_id_of` returns None for an unknown name.
    """

    __slots__ = ("_size", "_topic_ids")

    def __init__(self, topic_names: Collection[str], topic_id_of: Callable[[str], Uuid | None]) -> None:
        self._size = len(topic_names)
        found = map(topic_id_of, topic_names)
        self._topic_ids = dict.fromkeys(topic_id for topic_id in found if topic_id is not None)

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Uuid]:
        return iter(self._topic_ids)

    def __contains__(self, topic_id: object) -> bool:
        return topic_id in self._topic_ids
