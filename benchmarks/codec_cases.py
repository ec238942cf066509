"""The messages of the codec benchmark: five APIs in eleven versions, with the sizes of everyday
use.
"""

from __future__ import annotations

import random
from typing import NamedTuple

from kafkadouble.messages import registry
from kafkadouble.messages.generated.api_versions import ApiVersionsResponse
from kafkadouble.messages.generated.fetch import FetchRequest, FetchResponse
from kafkadouble.messages.generated.metadata import MetadataResponse
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.messages.message import Message
from kafkadouble.messages.uuid import Uuid

SEED = 20261121


class Case(NamedTuple):
    """One message in one version. `name` is its name in the results."""

    name: str
    message: Message
    version: int


def cases() -> list[Case]:
    """The eleven cases, with the same content in every run."""
    dice = random.Random(SEED)
    makers = {
        "apiversions": (api_versions, (3, 2)),
        "metadata": (metadata, (9, 12, 5)),
        "fetchreq": (fetch_request, (12, 11)),
        "produce": (produce, (9, 8)),
        "fetchres": (fetch_response, (12, 11)),
    }
    return [
        Case(f"{name} v{version}", make(version, dice), version)
        for name, (make, versions) in makers.items()
        for version in versions
    ]


def api_versions(version: int, dice: random.Random) -> ApiVersionsResponse:
    """62 API keys, and features in versions that have them."""
    keys = [
        ApiVersionsResponse.ApiVersion(api_key=api.key, min_version=api.versions[0], max_version=api.versions[1])
        for api in registry.apis()[:62]
    ]
    if version < 3:
        return ApiVersionsResponse(api_keys=keys)
    names = ("metadata.version", "kraft.version", "transaction.version", "group.version")
    supported = [
        ApiVersionsResponse.SupportedFeatureKey(name=name, min_version=0, max_version=level)
        for level, name in enumerate(names, 1)
    ]
    finalized = [
        ApiVersionsResponse.FinalizedFeatureKey(name=name, max_version_level=level, min_version_level=level)
        for level, name in enumerate(names, 1)
    ]
    return ApiVersionsResponse(
        api_keys=keys, supported_features=supported, finalized_features_epoch=77, finalized_features=finalized
    )


def metadata(version: int, dice: random.Random) -> MetadataResponse:
    """100 topics of 10 partitions with 3 replicas each, on 6 brokers."""
    brokers = [
        MetadataResponse.MetadataResponseBroker(node_id=node, host=f"broker-{node}.example", port=9092)
        for node in range(6)
    ]
    topics = [_topic(number, version, dice) for number in range(100)]
    return MetadataResponse(brokers=brokers, cluster_id="AAAAAAAAAAAAAAAAAAAAAA", controller_id=0, topics=topics)


def _topic(number: int, version: int, dice: random.Random) -> MetadataResponse.MetadataResponseTopic:
    partitions = []
    for index in range(10):
        replicas = tuple(dice.sample(range(6), 3))
        partitions.append(
            MetadataResponse.MetadataResponsePartition(
                partition_index=index,
                leader_id=replicas[0],
                leader_epoch=dice.randrange(20) if version >= 7 else -1,
                replica_nodes=replicas,
                isr_nodes=replicas,
            )
        )
    topic_id = Uuid.random(dice.randbytes) if version >= 10 else Uuid.ZERO
    return MetadataResponse.MetadataResponseTopic(name=f"topic-{number}", topic_id=topic_id, partitions=partitions)


def fetch_request(version: int, dice: random.Random) -> FetchRequest:
    """10 topics of 10 partitions."""
    topics = [
        FetchRequest.FetchTopic(
            topic=f"topic-{number}",
            partitions=[
                FetchRequest.FetchPartition(
                    partition=index,
                    current_leader_epoch=5,
                    fetch_offset=dice.randrange(1 << 40),
                    partition_max_bytes=1048576,
                )
                for index in range(10)
            ],
        )
        for number in range(10)
    ]
    return FetchRequest(max_wait_ms=500, min_bytes=1, max_bytes=52428800, session_epoch=1, session_id=99, topics=topics)


def produce(version: int, dice: random.Random) -> ProduceRequest:
    """One batch of 100 KB."""
    data = ProduceRequest.PartitionProduceData(index=3, records=dice.randbytes(100_000))
    topic = ProduceRequest.TopicProduceData(name="topic-1", partition_data=[data])
    return ProduceRequest(acks=-1, timeout_ms=30000, topic_data=[topic])


def fetch_response(version: int, dice: random.Random) -> FetchResponse:
    """50 partitions of 10 KB."""
    topics = [
        FetchResponse.FetchableTopicResponse(
            topic=f"topic-{number}",
            partitions=[
                FetchResponse.PartitionData(
                    partition_index=index,
                    high_watermark=1000,
                    last_stable_offset=1000,
                    log_start_offset=0,
                    records=dice.randbytes(10_240),
                )
                for index in range(10)
            ],
        )
        for number in range(5)
    ]
    return FetchResponse(session_id=99, responses=topics)
