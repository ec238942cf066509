"""What `serve` does once it listens: the broker in an event loop, its topics, the lines on stdout, the log on stderr, and the end."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Coroutine, Iterable
from contextlib import suppress
from typing import TYPE_CHECKING

from kafkadouble.server.clock import Clock, SystemClock
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.settings import Settings
from kafkadouble.wire.errors import WireError

from .. import __version__
from ..broker import Broker
from ..errors import KafkaError, UsageError
from ..listening import text_of

if TYPE_CHECKING:
    from ..data_dirs import DataDirs

WRONG_USE, UNUSABLE = 2, 3
log = logging.getLogger("kafkadouble")


async def serve(options: argparse.Namespace, settings: Settings, sock: socket.socket) -> int:
    """Serve until SIGINT or SIGTERM."""
    _log_to_stderr(logging.DEBUG if options.verbose else logging.WARNING if options.quiet else logging.INFO)
    ended = _on_signals()
    advertised = _advertised(options, settings)
    clock = SystemClock()
    try:
        settings, data = _data(options.data_dir, settings, clock)
        broker = Broker(
            settings, sock, clock, advertised=advertised, seed=options.seed, history=options.verbose, data=data
        )
    except (UsageError, WireError, DiskFailure) as problem:
        print(f"kafkadouble: {problem}", file=sys.stderr)
        return UNUSABLE
    try:
        await _create(broker, options.topic)
        await broker.start()
        _announce(broker, settings)
        await _first(ended.wait(), broker.listener.halted.wait())
    except KafkaError as problem:
        if broker.node.halted is None:
            print(f"kafkadouble: {problem}", file=sys.stderr)
            return WRONG_USE
    finally:
        await broker.stop()
        if broker.node.halted is not None:
            print(f"kafkadouble: {broker.node.halted}", file=sys.stderr)
    if broker.node.halted is not None:
        return UNUSABLE
    log.info("ended")
    return 0


async def _first(*events: Coroutine[object, object, object]) -> None:
    """Until one of them is there."""
    tasks = [asyncio.ensure_future(each) for each in events]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()


def _data(paths: list[str], settings: Settings, clock: Clock) -> tuple[Settings, DataDirs | None]:
    """The data directories, and the settings of the node that they belong to. Those of the settings count if they are formatted."""
    given = {"log.dirs", "log.dir"} & settings.given.keys()
    if not (paths or given):
        return settings, None
    from ..data_dirs import DataDirs, are_formatted, log_dirs, node_of

    if not paths:
        paths = log_dirs(settings)
        if not are_formatted(paths):
            log.warning(
                "everything stays in memory: %s is not formatted; `kafkadouble format` does that", ", ".join(paths)
            )
            return settings, None
    known = node_of(paths[0])
    if known is not None and not {"node.id", "broker.id"} & settings.given.keys():
        settings = settings.of_node(known)
    return settings, DataDirs(paths, settings.int("node.id"), clock.now())


def _on_signals() -> asyncio.Event:
    """Set when the process is asked to end."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):  # Windows: the handler that was installed before raises SystemExit
            loop.add_signal_handler(number, ended.set)
    return ended


def _advertised(options: argparse.Namespace, settings: Settings) -> tuple[str, int] | None:
    if options.advertised or "advertised.listeners" not in settings.given:
        given: tuple[str, int] | None = options.advertised
        return given
    from .listener_settings import advertised_listener

    return advertised_listener(settings)


async def _create(broker: Broker, topics: Iterable[tuple[str, int]]) -> None:
    for name, partitions in topics:
        from .. import seeding

        answer = await asyncio.wrap_future(broker.ask(seeding.to_create(name, partitions, {})))
        seeding.check_topics(answer.topics)


def _announce(broker: Broker, settings: Settings) -> None:
    node = broker.node
    lines = {
        "bootstrap.servers": text_of(*broker.address),
        "cluster.id": node.cluster_id,
        "node.id": node.id,
        "pid": os.getpid(),
        "version": __version__,
    }
    with suppress(BrokenPipeError):  # nobody listens: no reason not to serve
        print("\n".join(f"{key}={value}" for key, value in lines.items()), flush=True)
    log.info("serving at %s", lines["bootstrap.servers"])
    if without := settings.without_effect():
        log.info("these settings change nothing here: %s", ", ".join(without))


def _log_to_stderr(level: int) -> None:
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(message)s"))
    log.addHandler(handler)
    log.setLevel(level)
    log.propagate = False
    logging.getLogger("asyncio").addHandler(handler)
