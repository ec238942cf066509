"""A node that has much of everything: topics, partitions, offsets, groups with members,
transactions, producers, ACLs, quotas, users.

Rules. `size` is the number of each. Names are those of `benchmarks.widest`: `wide` has many parts,
and `n0`, `n1`, ... are many. Everything is made by requests, as clients make it. The client that is
measured is no super user, so that the authorizer looks at its ACLs.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.messages.generated.consumer_group_heartbeat import ConsumerGroupHeartbeatRequest
from kafkadouble.messages.generated.create_acls import CreateAclsRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from kafkadouble.messages.generated.join_group import JoinGroupRequest
from kafkadouble.messages.generated.metadata import MetadataRequest
from kafkadouble.messages.generated.offset_commit import OffsetCommitRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.generated.share_group_heartbeat import ShareGroupHeartbeatRequest
from kafkadouble.messages.generated.streams_group_heartbeat import StreamsGroupHeartbeatRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.node import Node
from kafkadouble.server.requests.request import Peer, Request
from kafkadouble.server.tracing.history import errors_in
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record
from tests.support.listeners import BROKER, listeners_of

from .widest import WIDE

OWNER, CLIENT = "User:owner", "User:ANONYMOUS"
AUTHORIZER = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"
MOST_PARTITIONS, AT_ONCE = 10_000, 1000
MEMBERS = 20
"""One member of a group for so many of the rest: each costs its group an assignment."""

LONG_MS = 1_800_000
ALLOW, ALL, ANY_RESOURCE = 3, 2, (2, 3, 4, 5, 6)
"""Topics, groups, the cluster, transactional ids and tokens."""

LITERAL = 3


class Builder:
    """Makes the state. `tell` hands in a request as the owner does, and returns its answer, if
    there is one at once."""

    def __init__(self, size: int) -> None:
        settings = Settings(
            {
                "authorizer.class.name": AUTHORIZER,
                "super.users": OWNER,
                "group.max.session.timeout.ms": LONG_MS,
                "group.initial.rebalance.delay.ms": 0,
                "group.share.max.size": 1000,
            }
        )
        self.size, self.now = size, 1
        address = "127.0.0.1", 9092
        self.node = Node(settings, listeners=listeners_of(settings, address), now=self.now, seed=1, history=False)
        self._peer = Peer(2, "127.0.0.1", 1, BROKER)
        self._peer.principal = OWNER

    def tell(self, body: Message, version: int | None = None) -> Any:
        key = body.api_key or 0
        version = SERVED[key].highest if version is None else version
        data = body.encode(version)
        read = registry.api(key).request.decode(data, version)
        answers: list[Any] = []
        request = Request(key, version, 1, "wide", read, self._peer, self.now, len(data))
        self.node.submit(request, answers.append, self.now)
        while self.node.waiting.is_busy:
            self.node.tick(self.now)
        if not answers:  # a member waits for the others
            return None
        assert not errors_in(answers[0]), answers[0]
        return answers[0]

    def numbers(self, part: int = 1) -> Iterable[int]:
        return range(self.size // part)

    def build(self) -> Node:
        for make in (topics, coordinators, offsets, members, transactions, producers, acls, quotas, users):
            make(self)
        self._peer.principal = CLIENT
        # The first request of a client has the authorizer read the ACLs.
        self.tell(MetadataRequest(topics=[MetadataRequest.MetadataRequestTopic(name=WIDE)]))
        return self.node


def wide_node(size: int) -> Node:
    """A node with `size` of everything."""
    return Builder(size).build()


def topics(to: Builder) -> None:
    created(to, {WIDE: min(to.size, MOST_PARTITIONS)})
    for start in range(0, to.size, AT_ONCE):
        created(to, {f"n{at}": 1 for at in range(start, min(start + AT_ONCE, to.size))})


def created(to: Builder, partitions: Mapping[str, int]) -> None:
    of = CreateTopicsRequest.CreatableTopic
    topics = [of(name=name, num_partitions=count, replication_factor=1) for name, count in partitions.items()]
    to.tell(CreateTopicsRequest(topics=topics, timeout_ms=LONG_MS))


def coordinators(to: Builder) -> None:
    """Of groups, of transactions, and of share groups."""
    for kind, key in enumerate((WIDE, WIDE, f"wide-share:{Uuid.METADATA_TOPIC_ID}:0")):
        to.tell(FindCoordinatorRequest(key_type=kind, coordinator_keys=[key]))


def offsets(to: Builder) -> None:
    """One of each group, and many of the wide one."""
    of = OffsetCommitRequest
    partitions = range(min(to.size, MOST_PARTITIONS))
    many = [of.OffsetCommitRequestPartition(partition_index=at, committed_offset=1) for at in partitions]
    for group, each in ((WIDE, many), *((f"n{at}", many[:1]) for at in to.numbers())):
        topic = of.OffsetCommitRequestTopic(name=WIDE, partitions=each)
        to.tell(of(group_id=group, generation_id_or_member_epoch=-1, topics=[topic]), 9)


def members(to: Builder) -> None:
    """Of a group of each protocol."""
    for _ in to.numbers(MEMBERS):
        protocol = JoinGroupRequest.JoinGroupRequestProtocol(name="range", metadata=bytes(50))
        join = JoinGroupRequest(group_id=WIDE, protocol_type="consumer", protocols=[protocol])
        join.session_timeout_ms = join.rebalance_timeout_ms = LONG_MS
        to.tell(join, 3)
    for at in to.numbers(MEMBERS):
        me = f"member-{at}"
        to.tell(
            ConsumerGroupHeartbeatRequest(
                group_id="wide-consumer",
                member_id=me,
                rebalance_timeout_ms=LONG_MS,
                subscribed_topic_names=[WIDE],
                topic_partitions=[],
            )
        )
        to.tell(ShareGroupHeartbeatRequest(group_id="wide-share", member_id=me, subscribed_topic_names=[WIDE]))
        to.tell(streams_member(me))


def streams_member(name: str) -> StreamsGroupHeartbeatRequest:
    of = StreamsGroupHeartbeatRequest
    topology = of.Topology(epoch=1, subtopologies=[of.Subtopology(subtopology_id="0", source_topics=[WIDE])])
    return of(
        group_id="wide-streams",
        member_id=name,
        process_id=name,
        rebalance_timeout_ms=LONG_MS,
        topology=topology,
        active_tasks=[],
        standby_tasks=[],
        warmup_tasks=[],
        client_tags=[],
    )


def transactions(to: Builder) -> None:
    for at in to.numbers():
        to.tell(InitProducerIdRequest(transactional_id=f"n{at}", transaction_timeout_ms=60_000))


def producers(to: Builder) -> None:
    """Of one partition."""
    of = ProduceRequest
    for at in to.numbers(MEMBERS):
        records = bytes(
            encode_batch([Record(0, 0, None, b"v", ())], producer_id=1_000_000 + at, producer_epoch=0, base_sequence=0)
        )
        data = of.TopicProduceData(name=WIDE, partition_data=[of.PartitionProduceData(index=0, records=records)])
        to.tell(of(acks=-1, timeout_ms=1000, topic_data=[data]), 9)


def acls(to: Builder) -> None:
    of = CreateAclsRequest.AclCreation
    rest: dict[str, Any] = {"host": "*", "operation": ALL, "permission_type": ALLOW, "resource_pattern_type": LITERAL}
    everything = [
        of(resource_type=each, resource_name="kafka-cluster" if each == 4 else "*", principal=CLIENT, **rest)
        for each in ANY_RESOURCE
    ]
    many = [of(resource_type=2, resource_name=f"n{at}", principal="User:another", **rest) for at in to.numbers()]
    to.tell(CreateAclsRequest(creations=[*everything, *many]))


def quotas(to: Builder) -> None:
    of = AlterClientQuotasRequest
    limit = of.OpData(key="consumer_byte_rate", value=1e12, remove=False)
    entries = [
        of.EntryData(entity=[of.EntityData(entity_type="user", entity_name=f"n{at}")], ops=[limit])
        for at in to.numbers()
    ]
    to.tell(of(entries=entries))


def users(to: Builder) -> None:
    of = AlterUserScramCredentialsRequest
    made = [
        of.ScramCredentialUpsertion(
            name=f"n{at}", mechanism=1, iterations=4096, salt=bytes(8), salted_password=bytes(32)
        )
        for at in to.numbers()
    ]
    to.tell(of(upsertions=made))
