"""The names of topics by their id, for requests that name a topic by its id alone.

The metadata of the cluster have the topics that exist. Names of deleted topics come from the
answers in which clients learned the ids.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol
from weakref import ref

from kafkadouble.messages.uuid import Uuid

if TYPE_CHECKING:
    from ..metadata.image import Image

MOST_NAMES = 10_000


class ImageOwner(Protocol):
    """A node, a broker or a cluster."""

    @property
    def image(self) -> Image:
        """The metadata of the cluster."""
        ...


class TopicNames:
    """Called with an id, it returns the name, or None. It does not keep the owner of the metadata
    alive."""

    def __init__(self) -> None:
        self._owner: ref[ImageOwner] | None = None
        self._learned: dict[Uuid, str] = {}

    def look_at(self, owner: ImageOwner) -> None:
        """Looks up names in its metadata from now on."""
        self._owner = ref(owner)

    def learn(self, answer: Any) -> None:
        """Remembers the names in an answer to Metadata. The oldest are forgotten beyond 10,000."""
        for topic in answer.topics:
            if topic.name and topic.topic_id != Uuid.ZERO:
                self._learned[topic.topic_id] = topic.name
        while len(self._learned) > MOST_NAMES:
            del self._learned[next(iter(self._learned))]

    def __call__(self, topic_id: Uuid) -> str | None:
        owner = None if self._owner is None else self._owner()
        topic = None if owner is None else owner.image.topic(topic_id)
        return self._learned.get(topic_id) if topic is None else topic.name

    def __repr__(self) -> str:
        return f"the names of topics, {len(self._learned)} of them from answers"
