"""Makes random requests to the controller listener plausible: most of their fields are set to match
what a node has. A table has one function for each API."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

from kafkadouble.messages.generated.default_principal_data import DefaultPrincipalData
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.features import SUPPORTED
from kafkadouble.server.node import Node
from kafkadouble.server.raft.messages import TOPIC

PRINCIPAL = b"\0\0" + DefaultPrincipalData(type="User", name="some-user").encode(0)
ADDRESS = b"\x7f\0\0\1"

Sense = Callable[[Random, Node, Any], None]


def _known_broker(dice: Random, node: Node, body: Any) -> None:
    brokers = sorted(node.controller.image.brokers.values(), key=lambda broker: broker.id)
    if brokers:
        broker = dice.choice(brokers)
        body.broker_id, body.broker_epoch = broker.id, broker.epoch


def _registration(dice: Random, node: Node, body: Any) -> None:
    body.cluster_id, body.is_migrating_zk_broker = node.cluster_id, False
    body.features = [
        type(body).Feature(name=name, min_supported_version=0, max_supported_version=high)
        for name, (_, high) in SUPPORTED.items()
    ]
    _listeners(dice, node, body)
    body.log_dirs = [Uuid(dice.randbytes(16)) for _ in range(dice.choice((1, 1, 3)))]


def _listeners(dice: Random, node: Node, body: Any) -> None:
    for listener in body.listeners or ():
        listener.host, listener.port = listener.host.strip() or "h", listener.port or 1
        if hasattr(listener, "security_protocol"):
            listener.security_protocol = dice.choice((0, 1, 2, 3))
        if type(body).__name__.endswith("RaftVoterRequest"):
            listener.name = dice.choice(("CONTROLLER", "CONTROLLER", "other"))


def _alter_partition(dice: Random, node: Node, body: Any) -> None:
    _known_broker(dice, node, body)
    topics = _topics(node)
    for topic in body.topics or ():
        if not topics:
            return
        of = dice.choice(topics)
        topic.topic_id = of.id
        for requested in topic.partitions:
            requested.partition_index = dice.choice(sorted(of.partitions))
            now = of.partitions[requested.partition_index]
            requested.leader_epoch, requested.partition_epoch = now.leader_epoch, now.partition_epoch
            isr = type(requested).BrokerState if hasattr(type(requested), "BrokerState") else None
            requested.new_isr = tuple(dice.sample(now.replicas, dice.randint(1, len(now.replicas))))
            if isr is not None:
                requested.new_isr_with_epochs = [isr(broker_id=id, broker_epoch=-1) for id in requested.new_isr]


def _topics(node: Node) -> list[Any]:
    """Some topics that have partitions, in an order that is the same in every process."""
    topics = node.controller.image.topics.values()
    return sorted((of for of in topics if of.partitions), key=lambda of: str(of.name))[:50]


def _assign(dice: Random, node: Node, body: Any) -> None:
    _known_broker(dice, node, body)
    topics = _topics(node)
    for directory in body.directories or ():
        for topic in directory.topics:
            topic.topic_id = dice.choice(topics).id if topics else Uuid.ZERO
            for requested in topic.partitions:
                requested.partition_index = 0


def _raft(dice: Random, node: Node, body: Any) -> None:
    replica = node.quorum.replica
    body.cluster_id = node.cluster_id
    for topic in body.topics:
        topic.topic_name = TOPIC
        for requested in topic.partitions:
            requested.partition_index = 0
            if hasattr(requested, "replica_epoch"):
                requested.replica_epoch = replica.epoch + dice.choice((0, 0, 0, 0, 0, 0, 1))
                requested.replica_id, requested.last_offset_epoch = dice.choice((1, 2, 3)), replica.log.last_epoch
            elif replica.leader_id is not None and dice.random() < 0.7:
                requested.leader_id, requested.leader_epoch = replica.leader_id, replica.epoch
            if hasattr(requested, "voter_directory_id"):
                requested.voter_directory_id = replica.key.directory_id
    if hasattr(body, "voter_id"):
        body.voter_id = replica.key.id


def _describe(dice: Random, node: Node, body: Any) -> None:
    for topic in body.topics:
        topic.topic_name = TOPIC


def _fetch(dice: Random, node: Node, body: Any) -> None:
    body.cluster_id, body.max_wait_ms = node.cluster_id, dice.choice((0, 0, 5, 500, 2**31 - 1))
    for topic in body.topics or ():
        topic.topic_id = Uuid.METADATA_TOPIC_ID
        for requested in topic.partitions:
            end, requested.partition = node.quorum.replica.log.end, 0
            requested.current_leader_epoch = node.quorum.replica.epoch
            offset = dice.choice((0, end.offset, end.offset, dice.randint(0, end.offset)))
            requested.fetch_offset, requested.last_fetched_epoch = offset, end.epoch if offset else 0


def _fetch_snapshot(dice: Random, node: Node, body: Any) -> None:
    body.cluster_id = node.cluster_id
    ids = node.quorum.snapshots.ids()
    for topic in body.topics or ():
        topic.name = TOPIC
        for requested in topic.partitions:
            requested.partition, requested.current_leader_epoch = 0, node.quorum.replica.epoch
            if ids and requested.snapshot_id is not None:
                id = dice.choice(ids)
                requested.snapshot_id.end_offset, requested.snapshot_id.epoch = id.offset, id.epoch


def _voter(dice: Random, node: Node, body: Any) -> None:
    body.cluster_id = node.cluster_id
    voters = list(node.quorum.replica.voters)
    if voters and dice.random() < 0.6:
        key = dice.choice(voters).key
        body.voter_id, body.voter_directory_id = key.id, key.directory_id
    if hasattr(body, "current_leader_epoch"):
        body.current_leader_epoch = node.quorum.replica.epoch
        feature = body.kraft_version_feature
        if feature is not None:
            feature.min_supported_version, feature.max_supported_version = 0, 1
    if hasattr(body, "listeners"):
        _listeners(dice, node, body)


def _envelope(dice: Random, node: Node, body: Any) -> None:
    body.request_principal, body.client_host_address = PRINCIPAL, ADDRESS


def _patient(dice: Random, node: Node, body: Any) -> None:
    body.timeout_ms = dice.choice((1, 1000, 2**31 - 1))


SENSE: dict[str, Sense] = {
    "BrokerRegistration": _registration,
    "BrokerHeartbeat": _known_broker,
    "AllocateProducerIds": _known_broker,
    "AlterPartition": _alter_partition,
    "AssignReplicasToDirs": _assign,
    "ControllerRegistration": _listeners,
    "Vote": _raft,
    "BeginQuorumEpoch": _raft,
    "EndQuorumEpoch": _raft,
    "DescribeQuorum": _describe,
    "Fetch": _fetch,
    "FetchSnapshot": _fetch_snapshot,
    "AddRaftVoter": _voter,
    "RemoveRaftVoter": _voter,
    "UpdateRaftVoter": _voter,
    "Envelope": _envelope,
    "CreateTopics": _patient,
    "DeleteTopics": _patient,
    "CreatePartitions": _patient,
    "ElectLeaders": _patient,
    "AlterPartitionReassignments": _patient,
    "UpdateFeatures": _patient,
}


def make_sense(dice: Random, node: Node, name: str, body: Any) -> None:
    """Changes `body`, a request of the API `name`, so that `node` may accept it."""
    sense = SENSE.get(name)
    if sense is not None:
        sense(dice, node, body)
