"""`kafkadouble observe`: shows the metadata of a running quorum, and follows its log as a broker
does.

Exit codes: 0; 1 when there is no quorum to observe, or it is lost (one line on stderr says why); 2
for a wrong call.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

from kafkadouble.server.raft.voters import VoterEndpoint
from kafkadouble.wire.client_log import printable

from ..observe.change import QUORUM
from ..observe.observer import ANONYMOUS, Observer
from ..observe.tables import tables
from ..observe.watching import NoQuorum, ObserverCallback, WatchOptions, observe
from .parts.printing import print_line

_EPILOG = """\
examples:
  kafkadouble observe localhost:9093
  kafkadouble observe --watch controller-1:9093,controller-2:9093
  kafkadouble observe --json localhost:9093 | jq 'select(.type == "PartitionChangeRecord")'

The address is that of a controller's listener; any controller of the quorum will do: observe finds the
leader from there. It changes nothing, and has no vote. If the quorum has an authorizer, the principal
needs CLUSTER_ACTION on the cluster, as a broker does. Exit codes: 0, 1 no quorum was found or it was
lost, 2 a wrong call.
"""


def main(words: list[str]) -> int:
    """Observes the given quorum."""
    # Only the main thread may set a signal handler. A shell ignores SIGINT for its background jobs.
    with suppress(ValueError):
        signal.signal(signal.SIGINT, signal.default_int_handler)
    options = _parser().parse_args(words)
    watch_options = WatchOptions(options.servers, options.replica_id, options.timeout)
    show = _Json() if options.json else _Text()
    try:
        with _troubles() as report_troubles:
            asyncio.run(
                observe(watch_options, show.caught_up, _reporting(show, report_troubles) if options.watch else None)
            )
    except NoQuorum as problem:
        sys.stdout.flush()
        print(printable(f"kafkadouble observe: {problem}"), file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 0
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        "kafkadouble observe",
        description="Show the metadata of a running quorum: the cluster, brokers, topics, changes of ISRs,\nconfigurations, features.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "servers",
        type=_servers,
        metavar="HOST:PORT[,HOST:PORT]",
        help="listeners of one or more controllers of the quorum",
    )
    parser.add_argument("--watch", action="store_true", help="then print a line for each change, until interrupted")
    parser.add_argument(
        "--json", action="store_true", help="print a JSON object for each change, one per line, instead of tables"
    )
    parser.add_argument(
        "--replica-id",
        type=_id,
        default=ANONYMOUS,
        metavar="N",
        help="the id of this observer in DescribeQuorum; no node may have it (default: anonymous)",
    )
    parser.add_argument(
        "--timeout",
        type=_seconds,
        default=10.0,
        metavar="SECONDS",
        help="how long it may take to read everything for the first time (default: 10)",
    )
    return parser


def _servers(text: str) -> list[VoterEndpoint]:
    return [_server(part.strip()) for part in text.split(",") if part.strip()] or [_server(text)]


def _server(text: str) -> VoterEndpoint:
    host, _, port = text.rpartition(":")
    if not (host and port.isascii() and port.isdigit() and 0 < int(port) < 65536):
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return VoterEndpoint(host.removeprefix("[").removesuffix("]"), int(port))


def _id(text: str) -> int:
    if not (text.isascii() and text.isdigit() and int(text) < 1 << 31):
        raise argparse.ArgumentTypeError(f"{text!r} is no id of a node")
    return int(text)


def _seconds(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = 0
    if not 0 < found < 1e6:
        raise argparse.ArgumentTypeError(f"{text!r} is no number of seconds")
    return found


@contextmanager
def _troubles() -> Iterator[Callable[[], None]]:
    """Prints the peers' log on standard error once the yielded function was called. Before that,
    the one line of the exit is enough."""
    handler, logger = logging.StreamHandler(), logging.getLogger("kafkadouble")
    handler.setFormatter(logging.Formatter("kafkadouble observe: %(message)s"))
    handler.setLevel(logging.CRITICAL + 1)
    logger.addHandler(handler)
    try:
        yield lambda: handler.setLevel(logging.WARNING)
    finally:
        logger.removeHandler(handler)


def _reporting(show: _Text | _Json, report_troubles: Callable[[], None]) -> ObserverCallback:
    def more(observer: Observer) -> None:
        report_troubles()
        show.more(observer)

    return more


class _Text:
    """Prints tables, and then a line for each change."""

    def caught_up(self, observer: Observer) -> None:
        observer.view.changes.clear()
        for line in tables(observer.view, observer.quorum, observer.replica.voters):
            print_line(line)
        sys.stdout.flush()

    def more(self, observer: Observer) -> None:
        """Prints the new changes."""
        changes = observer.view.changes
        while changes:
            print_line(changes.popleft().line())
        sys.stdout.flush()


class _Json:
    """Prints JSON objects from the start, and the leader's view of the quorum whenever it
    changes."""

    def __init__(self) -> None:
        self._printed: object = None

    def caught_up(self, observer: Observer) -> None:
        self.more(observer)

    def more(self, observer: Observer) -> None:
        """Prints the new changes."""
        changes = observer.view.changes
        while changes:
            print_line(json.dumps(changes.popleft().json()))
        quorum = observer.quorum.json()
        if quorum["leaderEpoch"] >= 0 and quorum != self._printed:
            self._printed = quorum
            print_line(json.dumps({"kind": QUORUM, **quorum}))
        sys.stdout.flush()
