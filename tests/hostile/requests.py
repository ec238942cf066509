"""Plausible hostile requests: every served API in every version, with names that exist, and numbers
at the limits."""

from __future__ import annotations

from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.fields import INTEGERS, FieldInfo
from kafkadouble.messages.generated.consumer_protocol_subscription import ConsumerProtocolSubscription
from kafkadouble.messages.generated.unregister_broker import UnregisterBrokerRequest
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.apis.served import SERVED
from kafkadouble.server.node import Node
from kafkadouble.wire.batch import encode_batch
from kafkadouble.wire.record import Record
from tests.messages.making import Maker

TOPICS = ("a", "b", "x.y", "x_y", "compacted", "", ".", "..", "a b", "ü", "x" * 249, "x" * 300)
FOREIGN_TOPICS = ("__transaction_state", "__cluster_metadata", "y" * 30_000)
GROUPS = ("g", "h", "static", "", "ünique", "g" * 2000)
PROTOCOLS = ("range", "roundrobin", "", "cooperative-sticky")
INSTANCES = ("i-1", "i-2", "", "i/3")
CONFIGS = (
    "cleanup.policy", "retention.ms", "segment.bytes", "max.message.bytes", "min.insync.replicas", "compression.type",
    "message.timestamp.type", "nope", "", "consumer.session.timeout.ms", "interval.ms", "match", "index.interval.bytes",
)  # fmt: skip
VALUES = (
    "",
    "0",
    "1",
    "-1",
    "compact",
    "delete",
    "gzip",
    "LogAppendTime",
    "9" * 30,
    "\0",
    "true",
    "1e3",
    "1048576",
    "x" * 5000,
)
CLIENTS = ("evil", "", None, "c" * 30_000, "ü", "%s %n {}", "line\nbreak\x1b[31m")
COUNTS = (-(2**31), -2, -1, 0, 1, 1, 2, 3, 10_001, 1_000_000, 10**9, 2**31 - 1)
WAITS = (-(2**31), -1, 0, 0, 1, 5, 100, 500, 30_000, 2**31 - 1)
EDGES = (-2, -1, 0, 0, 0, 1, 1, 2, 3, 100)
SMALL_INT8 = (-128, -1, 0, 0, 1, 2, 3, 4, 8, 16, 32, 127)
BROKER, BROKER_LOGGER = 4, 8
NO_BROKERS = (-(2**31), -2, 0x64646464, 2**31 - 1)
"""Broker ids that are not this broker's, and that no change of one byte turns into its id: an
unregistered broker rightly serves no client."""


class Requests(Maker):
    """Makes requests for the APIs that `node` serves; looks up members and ids there."""

    def __init__(self, seed: object, node: Node) -> None:
        super().__init__(seed, unknown=0.03, longest=3)
        self.node = node
        self.kinds = [(api, version) for api in SERVED.values() for version in range(api.lowest, api.highest + 1)]
        self.batches = [self.batch() for _ in range(60)]

    def frame(self, api: Any, version: int) -> bytes:
        """A whole request, its length in front."""
        message = self.message(api.api.request, version)
        return b"".join(headers.write_request(message, self.dice.randrange(2**31), self.dice.choice(CLIENTS), version))

    def struct(self, cls: Any, version: int, flexible: bool) -> Any:
        made: Any = super().struct(cls, version, flexible)
        if getattr(made, "resource_type", 0) in (BROKER, BROKER_LOGGER) and "Alter" in cls.__qualname__:
            # Not the broker's settings, which apply to the good client, too; nor this process's
            # loggers.
            made.resource_type = 2
        if cls is UnregisterBrokerRequest:
            made.broker_id = self.dice.choice(NO_BROKERS)
        return made

    def value(self, field: FieldInfo, version: int, flexible: bool) -> Any:
        if field.array and self.dice.random() < 0.01:
            return self.many(field, version, flexible)
        return super().value(field, version, flexible)

    def many(self, field: FieldInfo, version: int, flexible: bool) -> Any:
        """A long list, or one element many times."""
        size = self.dice.choice((127, 128, 300))
        if field.struct is not None and self.dice.random() < 0.5:
            return [self.element(field, version, flexible)] * size
        return [self.element(field, version, flexible) for _ in range(min(size, 140))]

    def element(self, field: FieldInfo, version: int, flexible: bool) -> Any:
        if field.struct is not None:
            return self.struct(field.struct, version, flexible)
        name, kind, dice = field.name, field.type, self.dice
        if kind == "string":
            return self.text(name)
        if kind == "uuid":
            return Uuid(dice.choice((bytes(16), dice.randbytes(16), *self.topic_ids())))
        if kind == "records":
            return dice.choice(self.batches)
        if kind == "bytes":
            return self.bytes_of(name)
        if kind in INTEGERS:
            return self.number(name, kind)
        return self.scalar(kind)

    def number(self, name: str, kind: str) -> int:
        dice, (low, high) = self.dice, INTEGERS[kind]
        if dice.random() < 0.1:
            return dice.choice((low, high, dice.randint(low, high)))
        if name in ("num_partitions", "count"):
            return dice.choice(COUNTS)
        if name.endswith(("_ms", "timeout", "min_bytes")):
            return max(low, min(high, dice.choice(WAITS)))
        if "max_bytes" in name:
            return dice.choice((-1, 0, 1, 100, 1 << 20, high))
        if "session_id" in name:
            return dice.choice((0, 0, high, *list(self.node.fetch_sessions._sessions)[:4]))
        return dice.choice(SMALL_INT8) if kind == "int8" else max(low, min(high, dice.choice(EDGES)))

    def text(self, name: str) -> str:
        dice = self.dice
        if dice.random() < 0.03:
            return dice.choice(("", "\0", "z" * 30_000, "😀", "a/b", "%s"))
        if "member_id" in name:
            return dice.choice(("", "unknown-member", *self.members()))
        if "instance_id" in name:
            return dice.choice(INSTANCES)
        if "group" in name or name == "key" or name == "coordinator_keys":
            return dice.choice(GROUPS)
        if name == "protocol_type":
            return dice.choice(("consumer", "consumer", "connect", ""))
        if name in ("protocol_name", "protocol", "assignor"):
            return dice.choice(PROTOCOLS)
        if name == "value":
            return dice.choice(VALUES)
        if "config" in name:
            return dice.choice(CONFIGS)
        return dice.choice((*TOPICS, *TOPICS, *FOREIGN_TOPICS, *GROUPS[:3], *PROTOCOLS[:1], *CONFIGS[:2], "1"))

    def topic_ids(self) -> list[Uuid]:
        """Some ids of topics that exist for this purpose."""
        image = self.node.controller.image
        return [image.topic_ids[name] for name in TOPICS[:5] if name in image.topic_ids]

    def members(self) -> list[str]:
        """Some members of groups, or some that were asked to join again."""
        found: list[str] = []
        for shard in self.node.groups:
            for group_id in GROUPS[:3]:
                group: Any = shard.groups.get(group_id)
                if group is not None:
                    found += [*group.members, *getattr(group, "pending_join_members", ())][:3]
        return found

    def bytes_of(self, name: str) -> bytes:
        subscribed = bytes(2) + ConsumerProtocolSubscription(topics=["a", "b"]).encode(0)
        return self.dice.choice((b"", subscribed, subscribed, self.dice.randbytes(9), bytes(70_000)))

    def batch(self) -> bytes:
        """A record batch, perhaps with impossible fields."""
        dice = self.dice
        times = (0, -1, 1_700_000_000_000, 2**63 - 1, -(2**63))
        first = dice.choice(times[:3])
        records = [
            Record(offset, first, dice.choice((None, b"", b"k")), dice.choice((None, b"v", b"w" * 3000)), (("h", b""),))
            for offset in range(dice.choice((1, 1, 2, 20, 40)))
        ]
        data = encode_batch(
            records,
            compression=dice.choice((0, 0, 1, 2, 3, 4)),
            producer_id=dice.choice((-1, -1, -1, 0, 5, 2**63 - 1)),
            producer_epoch=dice.choice((-1, 0, 1, 32767)),
            base_sequence=dice.choice((-1, 0, 1, 2**31 - 1)),
            is_transactional=dice.random() < 0.1,
        )
        return bytes(data)
