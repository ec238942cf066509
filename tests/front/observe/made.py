"""A small cluster's metadata, the same each time."""

from __future__ import annotations

from kafkadouble.messages.generated.broker_registration_change_record import BrokerRegistrationChangeRecord
from kafkadouble.messages.generated.config_record import ConfigRecord
from kafkadouble.messages.generated.feature_level_record import FeatureLevelRecord
from kafkadouble.messages.generated.partition_change_record import PartitionChangeRecord
from kafkadouble.messages.generated.partition_record import PartitionRecord
from kafkadouble.messages.generated.register_broker_record import RegisterBrokerRecord
from kafkadouble.messages.generated.topic_record import TopicRecord
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid
from kafkadouble.server.network.clock import SteppedClock
from tests.support.served_replica import ServedReplica

ORDERS = Uuid(bytes(range(16)))
START = 1_700_000_000_000


def broker(id: int, epoch: int) -> Message:
    at = RegisterBrokerRecord.BrokerEndpoint(name="PLAINTEXT", host=f"broker-{id}", port=9092)
    return RegisterBrokerRecord(
        broker_id=id, broker_epoch=epoch, end_points=[at], rack=f"rack-{id}", log_dirs=[Uuid(bytes([id] * 16))]
    )


def unfenced(id: int, epoch: int) -> Message:
    return BrokerRegistrationChangeRecord(broker_id=id, broker_epoch=epoch, fenced=-1)


def partition(index: int, replicas: list[int]) -> Message:
    return PartitionRecord(
        partition_id=index,
        topic_id=ORDERS,
        replicas=replicas,
        isr=replicas,
        leader=replicas[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=[Uuid(bytes([id] * 16)) for id in replicas],
    )


def change(index: int, isr: list[int], leader: int = -2) -> Message:
    return PartitionChangeRecord(partition_id=index, topic_id=ORDERS, isr=isr, leader=leader)


BATCHES: list[list[Message]] = [
    [FeatureLevelRecord(name="metadata.version", feature_level=33)],
    [broker(1, 2), broker(2, 3)],
    [unfenced(1, 2), unfenced(2, 3)],
    [
        TopicRecord(name="orders", topic_id=ORDERS),
        ConfigRecord(resource_type=2, resource_name="orders", name="retention.ms", value="86400000"),
        partition(0, [1, 2]),
        partition(1, [2, 1]),
    ],
    [change(0, [1])],
    [change(1, [1], 1)],
    [change(0, [1, 2]), change(1, [1, 2])],
]
"""A second passes before each."""


def fill(replica: ServedReplica, clock: SteppedClock) -> None:
    for records in BATCHES:
        clock.advance(1000)
        replica.append(*records)
