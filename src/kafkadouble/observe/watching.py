"""Runs the observer and its peers on an event loop, for `kafkadouble observe`: until the log is
read, or until it is stopped."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from random import SystemRandom
from typing import NamedTuple

from kafkadouble.common.listening import text_of
from kafkadouble.messages.api_keys import ApiKeys
from kafkadouble.server.network.clock import SystemClock
from kafkadouble.server.network.peers import Peers
from kafkadouble.server.raft.settings import QuorumSettings
from kafkadouble.server.raft.voters import VoterEndpoint

from .observer import ANONYMOUS, Observer

CLIENT_ID = "kafkadouble-observe"


class WatchOptions(NamedTuple):
    """The bootstrap endpoints, the replica id, and the limit in seconds for the first read of the
    whole log."""

    bootstrap: Sequence[VoterEndpoint]
    replica_id: int = ANONYMOUS
    timeout: float = 10.0


class NoQuorum(Exception):
    """The quorum cannot be observed, or cannot be observed any longer; the text says why."""


ObserverCallback = Callable[[Observer], None]
"""Shows the state of the observer."""


async def observe(options: WatchOptions, caught_up: ObserverCallback, more: ObserverCallback | None = None) -> None:
    """Calls `caught_up` when the log is read, then calls `more`, if given, after each possible
    change, until SIGTERM.

    Raises NoQuorum.
    """
    moved = asyncio.Event()
    clock = SystemClock()
    observer = Observer(options.bootstrap, clock.now(), SystemRandom(), replica_id=options.replica_id, moved=moved.set)
    peers = Peers(observer, clock, client_id=CLIENT_ID, timeout_ms=QuorumSettings().request_timeout_ms)
    peers.start()
    try:
        try:
            async with asyncio.timeout(options.timeout):
                await _read(observer, peers, moved, options)
        except TimeoutError:
            raise NoQuorum(_why(observer, peers, options)) from None
        caught_up(observer)
        if more is not None:
            await _go_on(observer, moved, more)
    finally:
        await peers.stop()


async def _read(observer: Observer, peers: Peers, moved: asyncio.Event, options: WatchOptions) -> None:
    while True:
        _check(observer)
        if observer.is_caught_up:
            return
        strangers = [endpoint for endpoint in options.bootstrap if _is_no_controller(peers, endpoint)]
        if len(strangers) == len(options.bootstrap):
            raise NoQuorum(_stranger(strangers[0]))
        moved.clear()
        await moved.wait()


async def _go_on(observer: Observer, moved: asyncio.Event, more: ObserverCallback) -> None:
    ended = asyncio.Event()

    def end() -> None:
        ended.set()
        moved.set()

    with suppress(
        NotImplementedError, RuntimeError, ValueError
    ):  # no signals: the loop of Windows, or not the main thread
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, end)
    while not ended.is_set():
        more(observer)
        _check(observer)
        moved.clear()
        await moved.wait()


def _check(observer: Observer) -> None:
    if observer.failure:
        raise NoQuorum(observer.failure)


def _is_no_controller(peers: Peers, endpoint: VoterEndpoint) -> bool:
    """Whether an endpoint answers as a Kafka node, but does not serve the APIs of a controller."""
    versions = peers.versions.get(endpoint)
    return versions is not None and ApiKeys.FETCH_SNAPSHOT not in versions


def _stranger(endpoint: VoterEndpoint) -> str:
    return (
        f"{text_of(*endpoint)} is a listener of a broker: a quorum is observed at a listener of a controller "
        "(controller.listener.names)"
    )


def _why(observer: Observer, peers: Peers, options: WatchOptions) -> str:
    """The reason for which the log was not read within the time limit."""
    within = f"within {options.timeout:g} s"
    if observer.replica.leader_id is not None:
        at = observer.replica.endpoint_of_leader()
        trouble = peers.troubles.get(at) if at else None
        where = f" at {text_of(*at)}" if at else ""
        return f"the leader, node {observer.replica.leader_id}{where}, did not send the whole log {within}" + (
            f": {trouble}" if trouble else ""
        )
    troubles = [f"{text_of(*endpoint)}: {_trouble(peers, endpoint)}" for endpoint in options.bootstrap]
    return f"no leader of a quorum was found {within}; {'; '.join(troubles)}"


def _trouble(peers: Peers, endpoint: VoterEndpoint) -> str:
    if _is_no_controller(peers, endpoint):
        return "a listener of a broker"
    default = "has found no leader" if endpoint in peers.versions else "no answer"
    return peers.troubles.get(endpoint, default)
