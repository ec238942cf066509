"""In which log directories the replicas of a broker lie, told to a controller that is another node: AssignReplicasToDirs (KIP-858).

Rules. Where the metadata say of a replica something else than is so, the controller is told, of at most 2250 at a time and one request at a
time; what it could not take for now is told again a little later, unless the metadata say so by then. A directory that has failed is told too:
the controller learns from it which replicas went with it. Where nothing has an id, or the level of the metadata knows no directories, nothing
is told. Which directories have failed is the heartbeats' to tell.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Any

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.assign_replicas_to_dirs import AssignReplicasToDirsRequest
from kafkadouble.messages.uuid import Uuid

from ..apis.served import CONTROLLER_SERVED
from ..metadata.image import EMPTY, Image
from ..metadata.log_dir_ids import directories_of
from ..metadata.record_versions import DIRECTORIES, level_of

if TYPE_CHECKING:
    from ..node import Node
    from .node_to_controller_channel import ToController

Key = tuple[Uuid, int]
"""A topic's id, and which of its partitions."""

MOST, AGAIN_MS = 2250, 1000
"""Replicas in one request, as in Kafka; until the controller is asked again."""

FOR_GOOD = (
    error_codes.NONE,
    error_codes.UNKNOWN_TOPIC_ID,
    error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    error_codes.NOT_LEADER_OR_FOLLOWER,
)
"""Answers about one replica after which there is nothing to be told: it is known, or it is gone."""


class OwnDirectories:
    """Those of one broker, from when it serves."""

    def __init__(self, node: Node, to_controller: ToController) -> None:
        self._node, self._to_controller = node, to_controller
        self._untold: dict[Key, None] = {}  # in their order
        self._asks = False

    def begin(self) -> None:
        """The partitions follow the metadata from now on, and so does this."""
        self._node.controller.listeners.append(self._image_changed)
        self._image_changed(EMPTY, self._node.controller.image, None)

    def _image_changed(self, before: Image, after: Image, records: Sequence[Any] | None) -> None:
        if level_of(after) < DIRECTORIES or not self._node.logs.has_ids:
            return
        everything = records is None or before.features is not after.features
        touched = _all(after) if everything or records is None else _touched(records)
        self._untold.update(dict.fromkeys(key for key in touched if self._differs(after, key) is not None))
        self._tell()

    def lost(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Files of these are gone: the logs say that they lie in no directory any more."""
        image = self._node.controller.image
        topics = [(image.topic_named(name), index) for name, index in partitions]
        self._untold.update(dict.fromkeys((topic.id, index) for topic, index in topics if topic is not None))
        self._tell()

    def _differs(self, image: Image, key: Key) -> Uuid | None:
        """Where a replica lies, if the metadata do not say so."""
        topic = image.topic(key[0])
        partition = None if topic is None else topic.partitions.get(key[1])
        if topic is None or partition is None or self._node.id not in partition.replicas:
            return None
        lies = self._node.logs.directory_of(topic.name, key[1])
        return None if lies == directories_of(partition).get(self._node.id) else lies

    def _tell(self) -> None:
        """Whatever is untold, once the last answer is there."""
        if self._asks:
            return
        image = self._node.controller.image
        lying = {key: directory for key in self._untold if (directory := self._differs(image, key)) is not None}
        self._untold = dict.fromkeys(lying)
        if lying:
            self._asks = True
            self._ask(dict(islice(lying.items(), MOST)))

    def _ask(self, lying: dict[Key, Uuid]) -> None:
        body = AssignReplicasToDirsRequest(
            broker_id=self._node.id,
            broker_epoch=self._node.broker_epoch,
            directories=[_directory(id, lying) for id in sorted(set(lying.values()))],
        )
        self._to_controller.ask(body, CONTROLLER_SERVED[body.api_key or 0].highest, self._answered)

    def _answered(self, response: Any) -> None:
        codes = dict(_codes(response))
        for key, code in codes.items():
            if code in FOR_GOOD:
                self._untold.pop(key, None)
        if all(code in FOR_GOOD for code in codes.values()) and codes:
            self._again(self._node.now)
        else:
            self._node.waiting.timers.at(self._node.now + AGAIN_MS, self._again)

    def _again(self, now: int) -> None:
        self._asks = False
        self._tell()

    def __repr__(self) -> str:
        return f"{len(self._untold)} replicas of which the controller does not know where they lie"


def _all(image: Image) -> Iterator[Key]:
    return ((topic.id, index) for topic in image.topics.values() for index in topic.partitions)


def _touched(records: Sequence[Any]) -> Iterator[Key]:
    named = (each for each in records if type(each).__name__ in ("PartitionRecord", "PartitionChangeRecord"))
    return ((each.topic_id, each.partition_id) for each in named)


def _directory(id: Uuid, lying: dict[Key, Uuid]) -> AssignReplicasToDirsRequest.DirectoryData:
    of, topics = AssignReplicasToDirsRequest, dict[Uuid, list[int]]()
    for (topic_id, index), directory in lying.items():
        if directory == id:
            topics.setdefault(topic_id, []).append(index)
    return of.DirectoryData(
        id=id,
        topics=[
            of.TopicData(topic_id=topic_id, partitions=[of.PartitionData(partition_index=index) for index in indexes])
            for topic_id, indexes in topics.items()
        ],
    )


def _codes(response: Any) -> Iterable[tuple[Key, int]]:
    """What became of each replica; nothing where the whole request was refused, or never answered."""
    if response is None or response.error_code:
        return
    for directory in response.directories:
        for topic in directory.topics:
            for partition in topic.partitions:
                yield (topic.topic_id, partition.partition_index), partition.error_code
