"""Small requests whose answers or effects are wide, because the state behind them is.

The state is that of `benchmarks.wide_state`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, TypeVar

from kafkadouble.messages.fields import fields_of
from kafkadouble.messages.message import Message, Struct

from . import widest
from .widest import WIDE

S = TypeVar("S", bound=Struct)

MATCH_ANY = {
    "resource_type_filter": 1,
    "pattern_type_filter": 1,
    "operation": 1,
    "permission_type": 1,
    "resource_name_filter": None,
    "principal_filter": None,
    "host_filter": None,
}
"""The filter of ACLs that matches each."""

NARROW: dict[str, tuple[dict[str, Any], ...]] = {
    "ConsumerGroupDescribe": ({"group_ids": ["wide-consumer"]},),
    "ConsumerGroupHeartbeat": (
        {
            "group_id": "wide-consumer",
            "member_id": "another",
            "rebalance_timeout_ms": 60_000,
            "subscribed_topic_names": [WIDE],
            "topic_partitions": [],
        },
        {
            "group_id": "wide-consumer",
            "member_id": "another",
            "rebalance_timeout_ms": 60_000,
            "subscribed_topic_regex": "n.*",
            "topic_partitions": [],
        },
    ),
    "CreatePartitions": ({"topics": [{"name": WIDE, "count": 20_000}], "timeout_ms": 1000},),
    "CreateTopics": (
        {"topics": [{"name": "another", "num_partitions": 10_000, "replication_factor": 1}], "timeout_ms": 1000},
    ),
    "DeleteAcls": ({"filters": [MATCH_ANY]},),
    "DeleteGroups": ({"groups_names": [WIDE]},),
    "DeleteTopics": ({"topics": [{"name": WIDE}], "timeout_ms": 1000},),
    "DescribeAcls": (MATCH_ANY,),
    "DescribeClientQuotas": ({"components": []},),
    "DescribeConfigs": ({"resources": [{"resource_type": 4, "resource_name": "1"}]},),
    "DescribeDelegationToken": ({"owners": None},),
    "DescribeGroups": ({"groups": [WIDE]},),
    "DescribeLogDirs": ({"topics": None},),
    "DescribeProducers": ({"topics": [{"name": WIDE, "partition_indexes": [0]}]},),
    "DescribeShareGroupOffsets": ({"groups": [{"group_id": "wide-share", "topics": None}]},),
    "DescribeTopicPartitions": ({"topics": [{"name": WIDE}], "response_partition_limit": 2000},),
    "DescribeUserScramCredentials": ({"users": None},),
    "ElectLeaders": ({"topic_partitions": None, "timeout_ms": 1000},),
    "JoinGroup": (
        {
            "group_id": WIDE,
            "protocol_type": "consumer",
            "session_timeout_ms": 60_000,
            "rebalance_timeout_ms": 1000,
            "protocols": [{"name": "range"}],
        },
    ),
    "ListConfigResources": ({},),
    "ListGroups": ({},),
    "ListPartitionReassignments": ({"topics": None, "timeout_ms": 1000},),
    "ListTransactions": ({},),
    "Metadata": ({"topics": None},),
    "OffsetFetch": ({"groups": [{"group_id": WIDE, "topics": None}]},),
    "ShareGroupDescribe": ({"group_ids": ["wide-share"]},),
    "ShareGroupHeartbeat": ({"group_id": "wide-share", "member_id": "another", "subscribed_topic_names": [WIDE]},),
    "StreamsGroupDescribe": ({"group_ids": ["wide-streams"]},),
}
"""The fields of such requests, by API. An API that is not here has no such request: the size of its
answer and of its effect is that of the request."""


def frames(cls: type[Message], api: str, version: int) -> Iterator[tuple[str, bytes]]:
    """The frames of one API, each with a number."""
    for at, fields in enumerate(NARROW.get(api, ()), 1):
        yield f"everything {at}", widest.frame(_made(cls, fields), version)


def _made(cls: type[S], values: Mapping[str, Any]) -> S:
    """A struct with these values; mappings in lists stand for structs."""
    structs = {field.name: field.struct for field in fields_of(cls)}
    made = cls()
    for name, value in values.items():
        of = structs[name]
        setattr(made, name, [_made(of, each) for each in value] if of is not None and value else value)
    return made
