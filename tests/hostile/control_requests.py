"""Plausible hostile requests to the controller listener: every API in every version, with the ids,
epochs and offsets of the running quorum, those next to them, and numbers at the limits; and
Envelopes with any of them inside."""

from __future__ import annotations

from random import Random
from typing import Any

from kafkadouble.messages import headers
from kafkadouble.messages.fields import INTEGERS, FieldInfo
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.apis.served import CONTROLLER_SERVED, FORWARDED
from kafkadouble.server.node import Node
from kafkadouble.server.raft.messages import TOPIC
from kafkadouble.wire.errors import UsageError

from .control_sense import ADDRESS, PRINCIPAL, make_sense
from .mutations import MUTATIONS
from .requests import CLIENTS, Requests

RAFT = ["Vote", "BeginQuorumEpoch", "EndQuorumEpoch", "DescribeQuorum", "Fetch", "FetchSnapshot"]
BROKERS = (11, 12, 13)
"""The good client's brokers: they register again after another client has unregistered them."""

GOOD = "good"
"""The prefix of the names of the good client's topics."""

IDS = (1, 1, 2, 2, 3, 3, 4, 9, *BROKERS, 14, 100, -1, -2, 2**31 - 1)
HOSTS = ("node1", "node2", "node3", "nowhere", "", "h" * 30_000, "::1")
LISTENERS = ("CONTROLLER", "CONTROLLER", "controller", "PLAINTEXT", "", "é" * 10_000)
FEATURES = ("metadata.version", "metadata.version", "kraft.version", "group.version", "", "no.such", "f" * 30_000)
SIZE_FIELD = 4
ADDRESSES = (ADDRESS, bytes(16), b"", b"\1\2\3")
FAR = (2**31 - 1, 2**31 - 2, 1 << 30, -(2**31))


class ControlRequests(Requests):
    """`nodes` are the present controllers; the caller replaces them when they change."""

    def __init__(self, seed: object, nodes: dict[int, Node]) -> None:
        self.nodes = nodes
        super().__init__(seed, nodes[min(nodes)])
        self.kinds = [
            (api, version) for api in CONTROLLER_SERVED.values() for version in range(api.lowest, api.highest + 1)
        ]
        self._forwardable = [kind for kind in self.kinds if kind[0].api.key in FORWARDED]
        self._about = ""  # the API of the request that is being made

    @property
    def other(self) -> Node:
        """Any of the controllers: the next field gets a value that this node knows."""
        return self.dice.choice(list(self.nodes.values()))

    def frame(self, api: Any, version: int) -> bytes:
        before, self._about = self._about, api.name
        try:
            message: Any = self.message(api.api.request, version)
            if self.dice.random() < 0.7:
                make_sense(self.dice, self.other, api.name, message)
            return self._written(message, version)
        except UsageError:  # the sensible value needs a later version
            return self._written(self.message(api.api.request, version), version)
        finally:
            self._about = before

    def _written(self, message: Any, version: int) -> bytes:
        client = self.dice.choice(CLIENTS)
        return b"".join(headers.write_request(message, self.dice.randrange(2**31), client, version))

    def value(self, field: FieldInfo, version: int, flexible: bool) -> Any:
        alone = self._about in RAFT and field.array and field.struct is not None and field.name != "leader_endpoints"
        if alone and self.dice.random() < 0.9:
            return [self.element(field, version, flexible)] if field.name in ("topics", "partitions") else []
        return super().value(field, version, flexible)

    def number(self, name: str, kind: str) -> int:
        dice, (low, high) = self.dice, INTEGERS[kind]
        if dice.random() < 0.02:
            return dice.choice((low, high))
        if name in ("partition", "partition_index") and self._about in RAFT:
            return 0 if dice.random() < 0.95 else dice.choice((1, -1))
        if "broker_epoch" in name:
            return self._broker_epoch()
        if "epoch" in name and self._about in (*RAFT, "UpdateRaftVoter"):
            return self._epoch()
        if name.endswith("offset") or name == "high_watermark":
            return self._offset()
        if name.endswith("_id") or name in ("new_isr", "replicas", "preferred_successors"):
            return dice.choice(IDS) if kind == "int32" else dice.choice((-1, 0, 1))
        if name.endswith("supported_version"):
            return dice.choice((0, 0, 1, 7, 33, 33, -1, 32767))
        if name == "port":
            return dice.choice((9093, 9093, 0, 1, 65535))
        return super().number(name, kind)

    def _epoch(self) -> int:
        """Mostly the epoch in force; now and then the next one, and seldom one after which few are
        left."""
        dice, epoch = self.dice, self.other.quorum.replica.epoch
        if dice.random() < 0.002:
            return dice.choice(FAR)
        return epoch + dice.choice((0,) * 30 + (-1, -1, 1))

    def _offset(self) -> int:
        log = self.other.quorum.log
        ends = (log.log_end_offset, log.log_end_offset, log.high_watermark, log.log_start_offset)
        return self.dice.choice((*ends, log.log_end_offset + 1, 0, -1, 2**63 - 1))

    def _broker_epoch(self) -> int:
        brokers = self.other.controller.image.brokers
        return self.dice.choice((-1, 0, 2**63 - 1, *sorted(broker.epoch for broker in brokers.values())))

    def element(self, field: FieldInfo, version: int, flexible: bool) -> Any:
        if field.struct is None and field.type == "uuid":
            return self._uuid(field.name)
        return super().element(field, version, flexible)

    def _uuid(self, name: str) -> Uuid:
        dice, node = self.dice, self.other
        if name == "topic_id" and self._about == "Fetch" and dice.random() < 0.95:
            return Uuid.METADATA_TOPIC_ID
        if name in ("incarnation_id", "log_dirs", "cordoned_log_dirs", "offline_log_dirs", "id"):
            brokers = node.controller.image.brokers
            own = [each for _, broker in sorted(brokers.items()) for each in (broker.incarnation_id, *broker.log_dirs)]
            return dice.choice((Uuid(bytes(15) + b"\1"), Uuid(dice.randbytes(16)), *own))
        if "directory" in name:
            return dice.choice((Uuid.ZERO, node.quorum.replica.key.directory_id, Uuid(dice.randbytes(16))))
        named = sorted(node.controller.image.topic_ids.items())
        topics = [id for name, id in named if not name.startswith(GOOD)][:10]
        return dice.choice((Uuid.ZERO, Uuid.METADATA_TOPIC_ID, Uuid(dice.randbytes(16)), *topics))

    def text(self, name: str) -> str:
        dice = self.dice
        if name == "cluster_id":
            return self.node.cluster_id if dice.random() < 0.95 else dice.choice(("", "another"))
        if name in ("name", "topic_name", "topic") and self._about in ("FetchSnapshot", *RAFT[:4]):
            return dice.choice((*(TOPIC,) * 20, "CONTROLLER", "", "other"))
        if name == "host":
            return dice.choice(HOSTS)
        if name == "name" and ("Registration" in self._about or "RaftVoter" in self._about):
            return dice.choice((*LISTENERS, *FEATURES))
        return super().text(name)

    def bytes_of(self, name: str) -> bytes:
        dice = self.dice
        if name == "request_data":
            return inside(dice, self.frame(*dice.choice(self._forwardable if dice.random() < 0.9 else self.kinds)))
        if name == "request_principal":
            return PRINCIPAL if dice.random() < 0.9 else dice.choice((b"", b"\0\0", b"\0\1" + PRINCIPAL[2:]))
        if name == "client_host_address":
            return ADDRESS if dice.random() < 0.9 else dice.choice(ADDRESSES)
        return super().bytes_of(name)


def inside(dice: Random, frame: bytes) -> bytes:
    """The content of an Envelope: a request without its size, unchanged or damaged."""
    if dice.random() < 0.6:
        return frame[SIZE_FIELD:]
    return dice.choice(MUTATIONS)(dice, bytearray(frame), frame)[SIZE_FIELD:]
