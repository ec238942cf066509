"""Replays a recording: sends its requests to another Kafka, and compares the answers.

Rules. Each recorded connection has one connection to the node that stands for the recorded one.
Requests are sent in the order of the recording, as early as `causal_order.py` allows; recorded
pauses are left out. An answer with an error that the recorded answer lacks, and that asks the
client to try again, is one that a client would not accept either: the request is sent again until
the patience is over.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import replace

from kafkadouble.messages import error_codes
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest, CreateTopicsResponse

from .recorded.exchange import Exchange
from .recorded.recording import Recording
from .replay_report import ReplayReport
from .replay_run import ReplayOptions, ReplayRun
from .replayed_connection import ReplayedConnection
from .target import Address, TargetError, asked, brokers_of, paired_nodes
from .target_security import LOGIN_APIS, PLAINTEXT, TargetSecurity

DEFAULTS = ReplayOptions()


async def replay(recording: Recording, target: Address, options: ReplayOptions = DEFAULTS) -> ReplayReport:
    """Replays a recording. Raises TargetError when the target cannot be reached, and UsageError
    when its brokers cannot stand for the recorded ones."""
    # Without the requests that authenticated the recorded clients: each connection has a login of
    # its own.
    kept = tuple(exchange for exchange in recording.exchanges if exchange.api_key not in LOGIN_APIS)
    recording = replace(recording, exchanges=kept)
    brokers = await brokers_of(target, options.patience, options.security)
    if options.creates_topics and (topics := earlier_topics(recording)):
        await create_topics(topics, target, options.patience, options.security)
    nodes = paired_nodes(recording.brokers(), brokers)
    addresses = {node: brokers[nodes[node]] for node in recording.nodes}
    run = ReplayRun(recording, addresses, nodes, options)
    async with asyncio.TaskGroup() as group:
        for exchanges in _by_connection(recording):
            group.create_task(ReplayedConnection(run, exchanges).run())
    return run.report


def _by_connection(recording: Recording) -> list[list[Exchange]]:
    exchanges: dict[str, list[Exchange]] = {}
    for exchange in recording.exchanges:
        exchanges.setdefault(exchange.connection, []).append(exchange)
    return list(exchanges.values())


VERSION = 5
TIMEOUT_MS = 30_000


def earlier_topics(recording: Recording) -> dict[str, int]:
    """The topics that the recorded cluster had before the recording: its answers name them, and no
    recorded request creates them. The number of partitions of each, by name."""
    found: dict[str, int] = {}
    created: set[str] = set()
    for exchange in recording.exchanges:
        if exchange.api_key == ApiKeys.CREATE_TOPICS:
            created.update(topic.name for topic in exchange.request().topics)
        elif exchange.api_key == ApiKeys.METADATA and (answer := exchange.answer()) is not None:
            for topic in answer.topics:
                if topic.name and not topic.error_code and not topic.is_internal:
                    found.setdefault(topic.name, len(topic.partitions))
    return {name: count for name, count in found.items() if name not in created}


async def create_topics(
    topics: Mapping[str, int], target: Address, patience: float, security: TargetSecurity = PLAINTEXT
) -> None:
    """Creates missing topics. Raises TargetError when one cannot be created."""
    wanted = [
        CreateTopicsRequest.CreatableTopic(name=name, num_partitions=count, replication_factor=-1)
        for name, count in topics.items()
    ]
    request = CreateTopicsRequest(topics=wanted, timeout_ms=TIMEOUT_MS)
    answer = await asked(target, request, VERSION, patience, security)
    assert isinstance(answer, CreateTopicsResponse)
    for topic in answer.topics:
        if topic.error_code not in (error_codes.NONE, error_codes.TOPIC_ALREADY_EXISTS):
            raise TargetError(f"topic {topic.name!r} cannot be created: {error_codes.name(topic.error_code)}")
