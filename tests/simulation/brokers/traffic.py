"""How many events the nodes and clients of a cluster may cause in one second of its time: a bound
that grows with the cluster, and that nodes which repeat requests without a pause break.

The bound is on every second, not on the whole run: most of a run is quiet, and the total of a long
run would leave room for a busy loop of some seconds.
"""

from __future__ import annotations

from kafkadouble.server.raft.settings import QuorumSettings

from .shape import Shape

RETRY_MS = QuorumSettings().retry_backoff_ms
"""The shortest pause before a node repeats a request that another node refused. Voters without a
leader do this all the time, each with every other: no cluster has more traffic. Clients pause
longer after a refusal; after a success they wait for the replication of a record, or for one."""

EVENTS_PER_REQUEST = 4
"""The request arrives, the answer arrives, the sender wakes after its pause, and the timeout of the
request is over (an event also if the answer has come)."""


def connections(shape: Shape) -> int:
    """At most one request is in flight on each: from every node to every other, and from every
    client. A transactional id has a producer and a reader of its group's offsets; a partition has a
    read_committed reader, and at the end a second one."""
    nodes = len({*shape.controller_ids, *shape.broker_ids})
    clients = shape.producers + shape.consumers + shape.askers
    if shape.transactional:
        clients += 2 * shape.transactional + 2 * shape.partitions
    # A member that is replaced may still have a request in flight.
    clients += 2 * (shape.group_members + shape.classic_members + shape.share_members + shape.streams_members)
    # A share group has a reader of its start offsets, and a producer for the added partition.
    clients += 2 * (shape.share_members > 0)
    return nodes * (nodes - 1) + clients


def most_per_second(shape: Shape) -> int:
    """The events in one second beyond which some node sends without end."""
    return connections(shape) * EVENTS_PER_REQUEST * 1000 // RETRY_MS
