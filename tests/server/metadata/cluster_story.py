"""Random consistent metadata logs that use every kind of record of a level."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

from kafkadouble.messages import registry
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.metadata.image import EMPTY, Image
from kafkadouble.server.metadata.record_versions import (
    CONTROLLERS,
    CORDONED,
    DIRECTORIES,
    ELR,
    SCRAM,
    TOKENS,
    TRANSACTIONS,
    UNREGISTERING,
)
from kafkadouble.server.metadata.replay import replay


def made(kind: str, /, **fields: Any) -> Any:
    """A metadata record by its name."""
    return registry.message(kind)(**fields)


def uuid(chance: Random) -> Uuid:
    return Uuid(chance.randbytes(16))


class Story:
    """The history of a cluster whose `metadata.version` is `level`. `image` is the replay of it."""

    def __init__(self, chance: Random, level: int) -> None:
        self.chance, self.level = chance, level
        self.image = EMPTY

    def records(self, count: int) -> Iterator[Any]:
        """The first record is the level. Transactions are begun, ended and aborted among the
        others; none is open at the end.
        """
        yield self._replayed(made("FeatureLevelRecord", name="metadata.version", feature_level=self.level))
        inside: Image | None = None
        for _ in range(count):
            if self.level >= TRANSACTIONS and self.chance.random() < 0.1:
                if inside is None:
                    inside = self.image
                    yield made("BeginTransactionRecord", name="x")
                elif self.chance.random() < 0.5:
                    inside = None
                    yield made("EndTransactionRecord")
                else:
                    self.image, inside = inside, None
                    yield made("AbortTransactionRecord", reason="y")
            event = self.chance.choice(EVENTS)(self)
            if event is not None:
                yield self._replayed(event)
        if inside is not None:
            yield made("EndTransactionRecord")

    def _replayed(self, record: Any) -> Any:
        self.image = replay(self.image, record)
        return record

    def _one(self, of: Any) -> Any:
        return self.chance.choice(sorted(of)) if of else None

    def _nodes(self) -> list[int]:
        return [self.chance.randrange(5) for _ in range(self.chance.randrange(3))]

    def _directories(self) -> list[Uuid]:
        if self.level < DIRECTORIES:
            return []
        return [uuid(self.chance) for _ in range(self.chance.randrange(3))]

    def feature(self) -> Any:
        return made("FeatureLevelRecord", name=f"f{self.chance.randrange(3)}", feature_level=self.chance.randrange(3))

    def broker(self) -> Any:
        of: Any = registry.message("RegisterBrokerRecord")
        listeners = [f"L{number}" for number in range(self.chance.randrange(3))]
        record = of(
            broker_id=self.chance.randrange(5),
            incarnation_id=uuid(self.chance),
            broker_epoch=self.chance.randrange(100),
            end_points=[of.BrokerEndpoint(name=name, host="h", port=9, security_protocol=1) for name in listeners],
            features=[of.BrokerFeature(name="f", min_supported_version=1, max_supported_version=2)],
            rack=self.chance.choice([None, "r"]),
            fenced=self.chance.random() < 0.5,
            in_controlled_shutdown=self.chance.random() < 0.3,
            log_dirs=self._directories(),
        )
        if self.level >= CORDONED:
            record.cordoned_log_dirs = self._directories()
        return record

    def broker_change(self) -> Any:
        broker = self._one(self.image.brokers)
        if broker is None:
            return None
        record = made("BrokerRegistrationChangeRecord", broker_id=broker, broker_epoch=self.image.brokers[broker].epoch)
        record.fenced = self.chance.randrange(-1, 2)
        record.in_controlled_shutdown = self.chance.randrange(2)
        record.log_dirs = self._directories()
        if self.level >= CORDONED:
            record.cordoned_log_dirs = self._directories()
        return record

    def broker_goes(self) -> Any:
        broker = self._one(self.image.brokers)
        if broker is None:
            return None
        return made("UnregisterBrokerRecord", broker_id=broker, broker_epoch=self.image.brokers[broker].epoch)

    def controller(self) -> Any:
        if self.level < CONTROLLERS:
            return None
        of: Any = registry.message("RegisterControllerRecord")
        endpoint = of.ControllerEndpoint(name="C", host="h", port=9093, security_protocol=0)
        feature = of.ControllerFeature(name="f", min_supported_version=0, max_supported_version=3)
        id = self.chance.randrange(4)
        return of(controller_id=id, incarnation_id=uuid(self.chance), end_points=[endpoint], features=[feature])

    def controller_goes(self) -> Any:
        if self.level < UNREGISTERING or not self.image.controllers:
            return None
        return made("UnregisterControllerRecord", controller_id=self._one(self.image.controllers))

    def topic(self) -> Any:
        name = f"topic.{self.chance.randrange(30)}"
        return None if name in self.image.topic_ids else made("TopicRecord", name=name, topic_id=uuid(self.chance))

    def topic_goes(self) -> Any:
        name = self._one(self.image.topic_ids)
        return name and made("RemoveTopicRecord", topic_id=self.image.topic_ids[name])

    def partition(self) -> Any:
        name = self._one(self.image.topic_ids)
        if name is None:
            return None
        topic = self.image.topics[self.image.topic_ids[name]]
        record = made("PartitionRecord", partition_id=len(topic.partitions), topic_id=topic.id)
        record.replicas, record.isr, record.adding_replicas = self._nodes(), self._nodes(), self._nodes()
        record.leader, record.leader_epoch = self.chance.randrange(-1, 5), self.chance.randrange(9)
        record.partition_epoch, record.leader_recovery_state = self.chance.randrange(9), self.chance.randrange(2)
        record.directories = self._directories()
        if self.level >= ELR:
            record.eligible_leader_replicas, record.last_known_elr = self._nodes(), self._nodes()
        return record

    def partition_change(self) -> Any:
        known = [
            (name, index) for name, id in self.image.topic_ids.items() for index in self.image.topics[id].partitions
        ]
        if not known:
            return None
        name, index = self._one(known)
        record = made("PartitionChangeRecord", topic_id=self.image.topic_ids[name], partition_id=index)
        record.isr, record.removing_replicas = self._nodes(), self._nodes()
        record.leader = self.chance.randrange(-2, 5)
        if self.level >= DIRECTORIES:
            record.directories = self._directories()
        if self.level >= ELR:
            record.eligible_leader_replicas = self._nodes()
        return record

    def elr_goes(self) -> Any:
        if self.level < ELR:
            return None
        return made("ClearElrRecord", topic_name=self.chance.choice(["", self._one(self.image.topic_ids) or ""]))

    def config(self) -> Any:
        kind, name = self.chance.choice([2, 4, 16, 32]), self.chance.choice(["", "1", "a"])
        value = self.chance.choice([None, "x", "y"])
        key = f"k{self.chance.randrange(3)}"
        return made("ConfigRecord", resource_type=kind, resource_name=name, name=key, value=value)

    def producer_ids(self) -> Any:
        return made(
            "ProducerIdsRecord", broker_id=1, broker_epoch=2, next_producer_id=self.chance.randrange(0, 9000, 1000)
        )

    def quota(self) -> Any:
        of: Any = registry.message("ClientQuotaRecord")
        entity = [of.EntityData(entity_type="user", entity_name=self.chance.choice([None, "u"]))]
        if self.chance.random() < 0.5:
            entity.append(of.EntityData(entity_type="client-id", entity_name="c"))
        return of(entity=entity, key="k", value=self.chance.random(), remove=self.chance.random() < 0.3)

    def acl(self) -> Any:
        id = Uuid(bytes([self.chance.randrange(3)]) * 16)
        if self.chance.random() < 0.3:
            return made("RemoveAccessControlEntryRecord", id=id)
        return made("AccessControlEntryRecord", id=id, resource_name="r", principal="User:u", host="*")

    def scram(self) -> Any:
        if self.level < SCRAM:
            return None
        key = {"name": self.chance.choice("uv"), "mechanism": self.chance.randrange(1, 3)}
        if self.chance.random() < 0.3:
            return made("RemoveUserScramCredentialRecord", **key)
        return made("UserScramCredentialRecord", **key, salt=b"s", stored_key=b"k", server_key=b"v", iterations=4096)

    def token(self) -> Any:
        if self.level < TOKENS:
            return None
        id = self.chance.choice("uv")
        if self.chance.random() < 0.3:
            return made("RemoveDelegationTokenRecord", token_id=id)
        end = self.chance.randrange(8, 10)
        times = {"issue_timestamp": 7, "expiration_timestamp": end, "max_timestamp": 10}
        return made("DelegationTokenRecord", owner="o", requester="q", renewers=["r", "s"], token_id=id, **times)

    def nothing(self) -> Any:
        return made("NoOpRecord")


EVENTS = [
    Story.feature, Story.broker, Story.broker, Story.broker_change, Story.broker_change, Story.broker_goes,
    Story.controller, Story.controller_goes, Story.topic, Story.topic, Story.topic_goes, Story.partition,
    Story.partition, Story.partition, Story.partition_change, Story.partition_change, Story.elr_goes, Story.config,
    Story.config, Story.producer_ids, Story.quota, Story.quota, Story.acl, Story.scram, Story.token, Story.nothing,
]  # fmt: skip
"""What may happen, as often as it does."""
