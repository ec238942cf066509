"""Leader epochs of a broker, looked at and moved on without a client; everything here is to be called on the loop's thread."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.server import leadership
from kafkadouble.server.node import Node
from kafkadouble.server.partition import Partition
from kafkadouble.server.request import Refusal

from .errors import KafkaError

if TYPE_CHECKING:
    from .broker import Broker


def find(broker: Broker, topic: str, index: int) -> Partition:
    """A partition. KafkaError(UNKNOWN_TOPIC_OR_PARTITION) when there is none such."""
    found = broker.node.partitions.get(topic, index)
    if found is None:
        raise KafkaError(error_codes.UNKNOWN_TOPIC_OR_PARTITION, f"there is no {topic}-{index}")
    return found


def leader_epoch(broker: Broker, topic: str, index: int) -> int:
    """The epoch of the leader."""
    return find(broker, topic, index).leader_epoch


def epochs(broker: Broker, topic: str, index: int) -> dict[int, int]:
    """The epochs that the log knows, each with the offset at which it begins."""
    return {entry.epoch: entry.offset for entry in find(broker, topic, index).log.epochs.entries}


def bump(broker: Broker, topic: str, index: int) -> int:
    """Begin another epoch, and tell it."""
    return _moved(broker, topic, index, leadership.elect)


def truncate(broker: Broker, topic: str, index: int, offset: int) -> int:
    """Lose the tail from an offset on; tells the epoch that begins there."""
    return _moved(broker, topic, index, lambda node, partition: leadership.lose_tail(node, partition, offset))


def _moved(broker: Broker, topic: str, index: int, move: Callable[[Node, Partition], int]) -> int:
    partition = find(broker, topic, index)
    now = broker.clock.now()
    broker.node.now = now
    try:
        return move(broker.node, partition)
    except Refusal as refusal:
        raise KafkaError(refusal.code, refusal.message) from None
    finally:
        broker.node.tick(now)  # whoever waited there goes on
        broker.listener.reschedule()
