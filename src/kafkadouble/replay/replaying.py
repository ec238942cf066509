"""Replays a recording: sends its requests to another Kafka, and compares the answers.

Rules. Each recorded connection has one connection to the node that stands for the recorded one.
Requests are sent in the order of the recording, as early as `causal_order.py` allows; recorded
pauses are left out. An answer with an error that the recorded answer lacks, and that asks the
client to try again, is one that a client would not accept either: the request is sent again until
the patience is over.
"""

from __future__ import annotations

import asyncio
from dataclasses import replace

from . import earlier_topics
from .recorded.exchange import Exchange
from .recorded.recording import Recording
from .replay_report import ReplayReport
from .replay_run import ReplayOptions, ReplayRun
from .replayed_connection import ReplayedConnection
from .target import Address, brokers_of, paired_nodes
from .target_security import LOGIN_APIS

DEFAULTS = ReplayOptions()


async def replay(recording: Recording, target: Address, options: ReplayOptions = DEFAULTS) -> ReplayReport:
    """Replays a recording. Raises TargetError when the target cannot be reached, and UsageError
    when its brokers cannot stand for the recorded ones."""
    # Without the requests that authenticated the recorded clients: each connection has a login of
    # its own.
    kept = tuple(each for each in recording.exchanges if each.api_key not in LOGIN_APIS)
    recording = replace(recording, exchanges=kept)
    brokers = await brokers_of(target, options.patience, options.security)
    if options.creates_topics and (topics := earlier_topics.earlier_topics(recording)):
        await earlier_topics.create(topics, target, options.patience, options.security)
    nodes = paired_nodes(recording.brokers(), brokers)
    addresses = {node: brokers[nodes[node]] for node in recording.nodes}
    run = ReplayRun(recording, addresses, nodes, options)
    async with asyncio.TaskGroup() as group:
        for exchanges in _by_connection(recording):
            group.create_task(ReplayedConnection(run, exchanges).run())
    return run.report


def _by_connection(recording: Recording) -> list[list[Exchange]]:
    found: dict[str, list[Exchange]] = {}
    for each in recording.exchanges:
        found.setdefault(each.connection, []).append(each)
    return list(found.values())
