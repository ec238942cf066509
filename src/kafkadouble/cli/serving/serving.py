"""Runs `serve` once its options are read: the broker in an event loop, its topics, the lines on
stdout, the log on stderr, and the end."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
import time
from collections.abc import Coroutine, Iterable, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, nullcontext, suppress
from typing import TYPE_CHECKING

from kafkadouble.cli.parts.settings_file import warning
from kafkadouble.common.errors import KafkaError, UsageError
from kafkadouble.common.listening import text_of
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.common.version import __version__
from kafkadouble.engine.broker import Broker
from kafkadouble.engine.node_listeners import BoundListeners, Overrides, paired, planned
from kafkadouble.records import initial_topics
from kafkadouble.server.configs.settings import Settings
from kafkadouble.server.log.files.errors import DiskFailure
from kafkadouble.server.network.clock import Clock, SteppedClock, SystemClock
from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import WireError

from .collector import collecting
from .log_lines import log_to_stderr
from .reach import warn_of_reach
from .ready_file import ready_file
from .serve_double import ScenarioRefused, begin_scenario, served_double
from .serve_problems import in_words
from .starting import DEFAULT_PORT, SIGNALS
from .stdin_end import set_at_end

if TYPE_CHECKING:
    from kafkadouble.access import acls, start_security
    from kafkadouble.access.security import Security
    from kafkadouble.engine import cluster, member_settings
    from kafkadouble.engine.cluster_api import ClusterApi
    from kafkadouble.engine.data import data_dirs
    from kafkadouble.scenario.scenario import Scenario
    from kafkadouble.seen import capturing as captures
    from kafkadouble.served_double import ServedDouble
    from kafkadouble.server.requests.listener_spec import ListenerSpec
    from kafkadouble.server.security.sasl.oauth_bearer import TokenCheck
    from kafkadouble.server.tracing.capture import Capture

    from . import serve_control
else:  # a start waits for none of them
    captures = OnFirstUse("kafkadouble.seen.capturing")
    acls = OnFirstUse("kafkadouble.access.acls")
    cluster = OnFirstUse("kafkadouble.engine.cluster")
    data_dirs = OnFirstUse("kafkadouble.engine.data.data_dirs")
    member_settings = OnFirstUse("kafkadouble.engine.member_settings")
    serve_control = OnFirstUse("kafkadouble.cli.serving.serve_control")
    start_security = OnFirstUse("kafkadouble.access.start_security")

WRONG_USE, UNUSABLE = 2, 3
ENDING = signal.SIGINT, signal.SIGTERM
BESIDE_STDIN = (signal.SIGTERM,)
"""With --until-stdin-ends: a terminal sends SIGINT to the program at the other end, too."""

log = ClientLog("kafkadouble")


async def serve(
    options: argparse.Namespace,
    settings: Settings,
    socks: Sequence[Sequence[socket.socket]],
    control_sock: socket.socket | None = None,
    scenario: Scenario | None = None,
    security: Security | None = None,
) -> int:
    """Serves until SIGINT or SIGTERM, at the sockets of each node, and at that of the control
    plane. The scenario is what the brokers begin with. The files of `security` are removed at the
    end."""
    level = logging.DEBUG if options.verbose else logging.WARNING if options.quiet else logging.INFO
    log_to_stderr(level, options.log_format)
    for setting in settings.unknown:
        log.warning(warning(setting))
    ended = _on_signals(BESIDE_STDIN if options.until_stdin_ends else ENDING)
    if options.until_stdin_ends:
        set_at_end(ended)
    clock = SteppedClock(time.time_ns() // 1_000_000) if options.stepped else SystemClock()
    with ExitStack() as at_end:
        if security is not None:
            options.security = security
            at_end.callback(security.close)
        try:
            capture = _capture(options, at_end)
            nodes = [paired(*each) for each in zip(planned_listeners(options, settings), socks, strict=True)]
            broker = _made(options, settings, clock, nodes, capture)
        except (UsageError, WireError, DiskFailure) as problem:
            print(f"kafkadouble: {problem}", file=sys.stderr)
            return UNUSABLE
        warn_of_reach([sock for of_node in socks for sock in of_node], broker)
        return await _serve(options, settings, broker, ended, control_sock, scenario)


def planned_listeners(options: argparse.Namespace, settings: Settings) -> list[tuple[ListenerSpec, ...]]:
    """The listeners of each node, as options and settings have them. UsageError for what cannot be
    served."""
    if options.brokers > 1:
        member_settings.check(settings)
    port = options.port if options.port is not None or "listeners" in settings.given else DEFAULT_PORT
    overrides = Overrides(options.host, port, options.controller_port, options.advertised)
    certificate = None if options.access is None else options.access.certificate
    return planned(settings, options.brokers, overrides, certificate)


def _capture(options: argparse.Namespace, at_end: ExitStack) -> Capture | None:
    """The capture of the traffic, if --capture is given."""
    if options.capture is None:
        return None
    capturing = captures.Capturing(
        captures.CaptureOptions(options.capture, options.capture_bodies, options.capture_frames)
    )
    at_end.callback(capturing.close)
    return capturing.capture


async def _serve(
    options: argparse.Namespace,
    settings: Settings,
    broker: ClusterApi,
    ended: asyncio.Event,
    control_sock: socket.socket | None,
    scenario: Scenario | None,
) -> int:
    """Serves until a signal, or until a node halts."""
    try:
        await _first(_begin(options, broker), ended.wait(), broker.controlling.listener.halted.wait())
        if not ended.is_set() and _halted(broker) is None:
            async with served_double(options, settings, broker, scenario) as double:
                await _serve_clients(options, settings, broker, ended, control_sock, double)
    except (KafkaError, ScenarioRefused) as problem:
        if _halted(broker) is None:
            print(f"kafkadouble: {problem}", file=sys.stderr)
            return WRONG_USE
    except UsageError as problem:
        if _halted(broker) is None:
            print(f"kafkadouble: {in_words(problem)}", file=sys.stderr)
            return UNUSABLE
    finally:
        halted = _halted(broker)
        await broker.stop()
        halted = halted or _halted(broker)
        if halted is not None:
            print(f"kafkadouble: {halted}", file=sys.stderr)
    if halted is not None:
        return UNUSABLE
    log.info("ended")
    return 0


async def _serve_clients(
    options: argparse.Namespace,
    settings: Settings,
    broker: ClusterApi,
    ended: asyncio.Event,
    control_sock: socket.socket | None,
    double: ServedDouble | None,
) -> None:
    nodes = {broker.controlling, *broker.members}
    if double is not None and options.scenario is not None:
        await _first(begin_scenario(double), ended.wait(), *(node.listener.halted.wait() for node in nodes))
        if ended.is_set() or _halted(broker) is not None:
            return
    _print_metrics_on_signal(broker)
    with collecting():
        async with _control(options, settings, double, control_sock):
            # A broker of a larger cluster has to be part of it first.
            await _first(_opened(broker), ended.wait(), *(node.listener.halted.wait() for node in nodes))
            if ended.is_set() or _halted(broker) is not None:
                return
            with ready_file(options.ready_file, _announce(broker, settings, options, control_sock)):
                await _first(ended.wait(), *(node.listener.halted.wait() for node in nodes))


def _control(
    options: argparse.Namespace, settings: Settings, double: ServedDouble | None, sock: socket.socket | None
) -> AbstractAsyncContextManager[object]:
    if sock is None or double is None:
        return nullcontext()
    return serve_control.control(options, double, sock, planned_listeners(options, settings))


async def _begin(options: argparse.Namespace, broker: ClusterApi) -> None:
    """Accept, and make the topics: beforehand, unless it takes other nodes, with which one must
    have found one another."""
    if len(broker.all_listeners) == 1 and broker.controlling.node.quorum.is_alone:
        await _store_users(broker, options)
        await initial_topics.create(broker, options.topic)
        await _create_acls(broker, options)
        await broker.start()
        return
    await broker.start()
    if options.topic or options.security or options.scenario or len(broker.all_listeners) > 1:
        await _opened(broker)
    await _store_users(broker, options)
    await initial_topics.create(broker, options.topic)
    await _create_acls(broker, options)


async def _create_acls(broker: ClusterApi, options: argparse.Namespace) -> None:
    if options.access is not None and options.access.acls:
        await acls.create_acls_at(broker, options.access.acls)


async def _store_users(broker: ClusterApi, options: argparse.Namespace) -> None:
    """Stores the keys of the users."""
    if options.security is not None:
        from random import Random  # seldom needed

        await start_security.begin(broker, options.security, Random(options.seed))


async def _opened(broker: ClusterApi) -> None:
    """Waits until every broker here accepts clients."""
    for member in broker.members:
        await member.listener.opened.wait()


def _made(
    options: argparse.Namespace,
    settings: Settings,
    clock: Clock,
    nodes: Sequence[BoundListeners],
    capture: Capture | None,
) -> ClusterApi:
    """The node, or those of a cluster."""
    if len(nodes) > 1:
        # What the settings name is a single node's.
        if {"log.dirs", "log.dir"} & settings.given.keys() and not options.data_dir:
            log.warning("everything stays in memory: log.dirs is that of one node; with --brokers it is --data-dir")
        return cluster.Cluster(
            settings,
            nodes,
            clock,
            seed=options.seed,
            history=_keeps_history(options),
            data_dirs=options.data_dir,
            capture=capture,
            telemetry=options.telemetry,
            token_check=_token_check(options),
        )
    settings, data = _data(options.data_dir, settings, clock)
    return Broker(
        settings,
        nodes[0],
        clock,
        seed=options.seed,
        history=_keeps_history(options),
        peer_requests=options.verbose,
        data=data,
        capture=capture,
        telemetry=options.telemetry,
        token_check=_token_check(options),
    )


def _token_check(options: argparse.Namespace) -> TokenCheck | None:
    security: Security | None = options.security
    return None if security is None else security.token_check


def _keeps_history(options: argparse.Namespace) -> bool:
    """Whether requests are logged, or a verb may look at them."""
    return bool(options.verbose or options.scenario) or options.control_port is not None


def _halted(broker: ClusterApi) -> str | None:
    """The reason for which a node has halted."""
    nodes = [each.node for each in (broker.controlling, *broker.members)]
    return next((node.halted for node in nodes if node.halted is not None), None)


async def _first(*events: Coroutine[object, object, object]) -> None:
    """Waits for the first of these to end; raises its error."""
    tasks = [asyncio.ensure_future(event) for event in events]
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            task.result()
    finally:
        for task in tasks:
            task.cancel()


def _data(paths: list[str], settings: Settings, clock: Clock) -> tuple[Settings, data_dirs.DataDirs | None]:
    """The data directories, and the settings of the node that they belong to. Those of the settings
    count if they are formatted."""
    given = {"log.dirs", "log.dir"} & settings.given.keys()
    if not (paths or given):
        return settings, None
    alone = None
    if not paths:
        alone = data_dirs.metadata_dir(settings)
        paths = data_dirs.log_dirs(settings)
        if not data_dirs.are_formatted(paths):
            log.warning(
                "everything stays in memory: %s is not formatted; `kafkadouble format` does that", ", ".join(paths)
            )
            return settings, None
    known = data_dirs.node_of(paths[0])
    if known is not None and not {"node.id", "broker.id"} & settings.given.keys():
        settings = settings.of_node(known)
    return settings, data_dirs.DataDirs(paths, settings.int("node.id"), clock.now(), metadata_path=alone)


def _on_signals(numbers: Iterable[signal.Signals] = ENDING) -> asyncio.Event:
    """Sets by the signals that end the process."""
    ended, loop = asyncio.Event(), asyncio.get_running_loop()
    for number in numbers:
        # On Windows the handler that was installed before raises SystemExit.
        with suppress(NotImplementedError):
            loop.add_signal_handler(number, ended.set)
    if SIGNALS:
        ended.set()
    return ended


def _print_metrics_on_signal(broker: ClusterApi) -> None:
    """SIGUSR1 prints the metrics of every node of this process."""

    def print_metrics() -> None:
        nodes = {each.node.id: each.node for each in (broker.controlling, *broker.members)}
        for id, node in sorted(nodes.items()):
            of = f"node {id}, " if len(nodes) > 1 else ""
            for name, value in node.snapshot_generator.readings().items():
                log.warning("%smetric %s: %s", of, name, value)

    with suppress(NotImplementedError, AttributeError):  # Windows
        asyncio.get_running_loop().add_signal_handler(signal.SIGUSR1, print_metrics)


def _announce(
    broker: ClusterApi, settings: Settings, options: argparse.Namespace, control_sock: socket.socket | None
) -> list[str]:
    """Prints where clients find what, and returns the lines."""
    node = broker.any_broker.node
    lines: dict[str, object] = {}
    if "broker" in node.roles:
        lines["bootstrap.servers"] = _texts(broker.addresses())
    if broker.controller is not None:
        lines["controller.quorum.bootstrap.servers"] = text_of(*broker.controller)
    lines |= {
        "cluster.id": node.cluster_id,
        "node.id": ",".join(str(member.node.id) for member in broker.members),
        "pid": os.getpid(),
        "version": __version__,
    }
    if len(broker.listener_names) > 1:
        for name in broker.listener_names:
            lines[f"listener.name.{name.lower()}.bootstrap.servers"] = _texts(broker.addresses(name))
    if options.security is not None:
        lines |= options.security.files()
    if control_sock is not None:  # the kernel accepts connections until the control plane does
        lines["control.url"] = f"http://{text_of(*control_sock.getsockname()[:2])}"
        if options.page:
            lines["page.url"] = f"{lines['control.url']}/"
    texts = [f"{key}={value}" for key, value in lines.items()]
    with suppress(BrokenPipeError):  # no process reads stdout: it serves nevertheless
        print("\n".join(texts), flush=True)
    if without := settings.without_effect():
        log.info("these settings change nothing here: %s", ", ".join(without))
    log.info("serving at %s", lines.get("bootstrap.servers") or text_of(*(broker.controller or broker.address)))
    return texts


def _texts(addresses: Iterable[tuple[str, int]]) -> str:
    return ",".join(text_of(*address) for address in addresses)
