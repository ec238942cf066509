"""Reports the log directories of a broker's replicas to the active controller: AssignReplicasToDirs
(KIP-858).

Replicas are reported if the metadata differ from their actual directory: at most 2250 per request,
one request at a time. Replicas that the controller could not handle are reported again a little
later, unless the metadata agree by then. Replicas in a failed directory are reported too: the
controller learns from that which replicas are offline. Nothing is reported if the directories have
no ids, or if metadata.version has no directories. Failed directories themselves are reported by
heartbeats.
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
    from .host import BrokerHost
    from .node_to_controller_channel import NodeToControllerChannel

PartitionKey = tuple[Uuid, int]
"""A topic id, and a partition index."""

MAX_ASSIGNMENTS_PER_REQUEST, RETRY_MS = 2250, 1000
"""The most replicas in one request, as in Kafka; the time (ms) before a retry."""

FINAL_ERRORS = (
    error_codes.NONE,
    error_codes.UNKNOWN_TOPIC_ID,
    error_codes.UNKNOWN_TOPIC_OR_PARTITION,
    error_codes.NOT_LEADER_OR_FOLLOWER,
)
"""Answers after which a replica is not reported again: it is recorded, or it does not exist."""


class AssignmentsManager:
    """Reports the directories of one broker's replicas, once it serves."""

    def __init__(self, node: BrokerHost, to_controller: NodeToControllerChannel) -> None:
        self._node, self._to_controller = node, to_controller
        self._unreported: dict[PartitionKey, None] = {}  # in the order in which they were found
        self._in_flight = False
        self._intended: dict[PartitionKey, Uuid] = {}  # of replicas that are about to move

    def begin(self) -> None:
        """Starts when the broker's partitions start to follow the metadata."""
        self._node.controller.listeners.append(self._image_changed)
        self._image_changed(EMPTY, self._node.image, None)

    def _image_changed(self, before: Image, after: Image, records: Sequence[Any] | None) -> None:
        if level_of(after) < DIRECTORIES or not self._node.logs.has_ids:
            return
        all_partitions = records is None or before.features is not after.features
        touched = _all_partitions(after) if all_partitions or records is None else _named_partitions(records)
        self._unreported.update(
            dict.fromkeys(key for key in touched if self._unreported_directory(after, key) is not None)
        )
        self._send_unreported()

    def partitions_lost(self, partitions: Iterable[tuple[str, int]]) -> None:
        """Files of these partitions are lost: they are in no directory any more."""
        image = self._node.image
        topics = [(image.topic_named(name), index) for name, index in partitions]
        self._unreported.update(dict.fromkeys((topic.id, index) for topic, index in topics if topic is not None))
        self._send_unreported()

    def assign(self, topic_id: Uuid, index: int, directory: Uuid | None) -> None:
        """A replica is about to move to this directory, which is reported instead of its own. With
        None its own one is reported again."""
        key = topic_id, index
        if directory is None:
            self._intended.pop(key, None)
        else:
            self._intended[key] = directory
        self._unreported[key] = None
        self._send_unreported()

    def _unreported_directory(self, image: Image, key: PartitionKey) -> Uuid | None:
        """The directory of a replica, if the metadata differ."""
        topic = image.topic(key[0])
        partition = None if topic is None else topic.partitions.get(key[1])
        if topic is None or partition is None or self._node.id not in partition.replicas:
            return None
        actual = self._intended.get(key) or self._node.logs.directory_of(topic.name, key[1])
        return None if actual == directories_of(partition).get(self._node.id) else actual

    def _send_unreported(self) -> None:
        """Sends a request for the unreported replicas, unless one is in flight."""
        if self._in_flight:
            return
        image = self._node.image
        assignments = {
            key: directory
            for key in self._unreported
            if (directory := self._unreported_directory(image, key)) is not None
        }
        self._unreported = dict.fromkeys(assignments)
        if assignments:
            self._in_flight = True
            self._send(dict(islice(assignments.items(), MAX_ASSIGNMENTS_PER_REQUEST)))

    def _send(self, assignments: dict[PartitionKey, Uuid]) -> None:
        body = AssignReplicasToDirsRequest(
            broker_id=self._node.id,
            broker_epoch=self._node.broker_epoch,
            directories=[_directory_data(id, assignments) for id in sorted(set(assignments.values()))],
        )
        self._to_controller.send_request(body, CONTROLLER_SERVED[body.api_key or 0].highest, self._answered)

    def _answered(self, response: Any) -> None:
        codes = dict(_error_codes(response))
        for key, code in codes.items():
            if code in FINAL_ERRORS:
                self._unreported.pop(key, None)
        if all(code in FINAL_ERRORS for code in codes.values()) and codes:
            self._retry(self._node.now)
        else:
            self._node.waiting.timers.at(self._node.now + RETRY_MS, self._retry)

    def _retry(self, now: int) -> None:
        self._in_flight = False
        self._send_unreported()

    def __repr__(self) -> str:
        return f"{len(self._unreported)} replicas with a directory that is not reported yet"


def _all_partitions(image: Image) -> Iterator[PartitionKey]:
    return ((topic.id, index) for topic in image.topics.values() for index in topic.partitions)


def _named_partitions(records: Sequence[Any]) -> Iterator[PartitionKey]:
    named = (record for record in records if type(record).__name__ in ("PartitionRecord", "PartitionChangeRecord"))
    return ((each.topic_id, each.partition_id) for each in named)


def _directory_data(id: Uuid, assignments: dict[PartitionKey, Uuid]) -> AssignReplicasToDirsRequest.DirectoryData:
    of, topics = AssignReplicasToDirsRequest, dict[Uuid, list[int]]()
    for (topic_id, index), directory in assignments.items():
        if directory == id:
            topics.setdefault(topic_id, []).append(index)
    return of.DirectoryData(
        id=id,
        topics=[
            of.TopicData(topic_id=topic_id, partitions=[of.PartitionData(partition_index=index) for index in indexes])
            for topic_id, indexes in topics.items()
        ],
    )


def _error_codes(response: Any) -> Iterable[tuple[PartitionKey, int]]:
    """The error code of each replica; none if the whole request failed or was not answered."""
    if response is None or response.error_code:
        return
    for directory in response.directories:
        for topic in directory.topics:
            for partition in topic.partitions:
                yield (topic.topic_id, partition.partition_index), partition.error_code
