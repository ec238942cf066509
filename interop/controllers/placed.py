"""Topics whose replicas are on given brokers, and batches with any `acks`. The requests are written
here and go to one broker each, so that no client looks for another broker or retries."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import NamedTuple

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.elect_leaders import ElectLeadersRequest
from kafkadouble.messages.generated.list_offsets import ListOffsetsRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from kafkadouble.wire.batch import Record, encode_batch
from tests.support.client import ask
from tests.support.waiting import eventually

from . import admin

LEADER, IN_SYNC = 1, -1
"""The replicas that must have a batch before it is acknowledged: `acks`."""

PREFERRED, UNCLEAN = 0, 1
"""Election types of ElectLeaders."""

LATEST = -1
TIMEOUT_MS = 30_000


class ProduceResult(NamedTuple):
    """The answer to a batch: the error's name, and its base offset."""

    error: str
    offset: int


def create(bootstrap: str, topic: str, replicas: Sequence[Sequence[int]], **configs: str) -> None:
    """Creates a topic with the replicas of each partition, the preferred leader first; settings
    with `_` for `.`. Waits until these lead."""
    of = CreateTopicsRequest
    assignments = [
        of.CreatableReplicaAssignment(partition_index=index, broker_ids=list(replica))
        for index, replica in enumerate(replicas)
    ]
    given = [of.CreatableTopicConfig(name=key.replace("_", "."), value=value) for key, value in configs.items()]
    new_topic = of.CreatableTopic(
        name=topic, num_partitions=-1, replication_factor=-1, assignments=assignments, configs=given
    )
    (response,) = ask(bootstrap, of(topics=[new_topic], timeout_ms=TIMEOUT_MS), 7).topics
    # A broker sends the request again if the controller has changed before it answered.
    assert response.error_code in (error_codes.NONE, error_codes.TOPIC_ALREADY_EXISTS), response
    admin.led(bootstrap, topic, [replica[0] for replica in replicas])


BEHIND = ("NOT_LEADER_OR_FOLLOWER", "UNKNOWN_TOPIC_OR_PARTITION")
"""The errors of a broker whose metadata is not up to date."""


def produce(
    at: str, topic: str, values: Sequence[bytes], *, index: int = 0, acks: int = IN_SYNC, timeout_ms: int = TIMEOUT_MS
) -> ProduceResult:
    """Sends one batch to the broker at this address."""
    of, now = ProduceRequest, time.time_ns() // 1_000_000
    batch = encode_batch([Record(offset, now, None, value) for offset, value in enumerate(values)])
    data = of.TopicProduceData(name=topic, partition_data=[of.PartitionProduceData(index=index, records=bytes(batch))])
    answer = ask(at, of(acks=acks, timeout_ms=timeout_ms, topic_data=[data]), 9)
    (response,) = answer.responses[0].partition_responses
    return ProduceResult(error_codes.name(response.error_code), response.base_offset)


def written(at: str, topic: str, values: Sequence[bytes], *, index: int = 0, acks: int = IN_SYNC) -> int:
    """Sends one batch, repeatedly until the broker knows the topic and leads it; returns the base
    offset."""
    found = eventually(
        lambda: produce(at, topic, values, index=index, acks=acks), lambda result: result.error not in BEHIND
    )
    assert found.error == "NONE", found
    return found.offset


def numbered(word: str, count: int = 5) -> list[bytes]:
    """Values that name their origin."""
    return [b"%d-%s" % (number, word.encode()) for number in range(count)]


def elect(bootstrap: str, topic: str, kind: int, index: int = 0) -> str:
    """Elects a leader; returns the error's name."""
    partitions = [ElectLeadersRequest.TopicPartitions(topic=topic, partitions=[index])]
    response = ask(bootstrap, ElectLeadersRequest(election_type=kind, topic_partitions=partitions), 2)
    return error_codes.name(response.replica_election_results[0].partition_result[0].error_code)


def end(at: str, topic: str, index: int = 0) -> int:
    """The end offset of the partition that a consumer gets from its leader."""
    of = ListOffsetsRequest
    partition = of.ListOffsetsPartition(partition_index=index, timestamp=LATEST)
    response = ask(at, of(replica_id=-1, topics=[of.ListOffsetsTopic(name=topic, partitions=[partition])]), 7)
    (found,) = response.topics[0].partitions
    assert found.error_code == 0, found
    return int(found.offset)
