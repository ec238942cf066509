"""What `serve` does once it listens: the broker in an event loop, its topics, the lines on stdout, the log on stderr, and the end."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
from collections.abc import Iterable
from contextlib import suppress

from kafkadouble.server.clock import SystemClock
from kafkadouble.server.settings import Settings

from .. import __version__
from ..broker import Broker
from ..errors import KafkaError
from ..listening import text_of

WRONG_USE = 2
log = logging.getLogger("kafkadouble")


async def serve(options: argparse.Namespace, settings: Settings, sock: socket.socket) -> int:
    """Serve until SIGINT or SIGTERM."""
    _log_to_stderr(logging.DEBUG if options.verbose else logging.WARNING if options.quiet else logging.INFO)
    ended = _on_signals()
    advertised = _advertised(options, settings)
    broker = Broker(settings, sock, SystemClock(), advertised=advertised, seed=options.seed, history=options.verbose)
    try:
        await _create(broker, options.topic)
        await broker.start()
        _announce(broker, settings)
        await ended.wait()
    except KafkaError as problem:
        print(f"kafkadouble: {problem}", file=sys.stderr)
        return WRONG_USE
    finally:
        await broker.stop()
    log.info("ended")
    return 0


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
