"""A small synchronous Kafka client on our own codecs: the requests that pipelines need.

    with Client({"bootstrap.servers": "localhost:9092"}) as client:
        for fetched in client.read(TopicPartition("orders", 0), 0, 1000):
            ...

Rules. Nothing here uses Spark or Arrow: the client returns bytes of record batches, and
`wire.columns` makes tables of them.
"""

from __future__ import annotations

from .client import Client
from .errors import (
    ApiError,
    BadAnswer,
    ClientError,
    LogTruncated,
    NoLeader,
    NoSuchPartition,
    NoSuchTopic,
    NotAuthenticated,
    NotAuthorized,
    NotReachable,
    OffsetOutOfRange,
    TimedOut,
    TopicRecreated,
    Unsupported,
)
from .names import EARLIEST, LATEST, Fetched, OffsetAndEpoch, PartitionLeader, TopicPartition

__all__ = [
    "EARLIEST",
    "LATEST",
    "ApiError",
    "BadAnswer",
    "Client",
    "ClientError",
    "Fetched",
    "LogTruncated",
    "NoLeader",
    "NoSuchPartition",
    "NoSuchTopic",
    "NotAuthenticated",
    "NotAuthorized",
    "NotReachable",
    "OffsetAndEpoch",
    "OffsetOutOfRange",
    "PartitionLeader",
    "TimedOut",
    "TopicPartition",
    "TopicRecreated",
    "Unsupported",
]
