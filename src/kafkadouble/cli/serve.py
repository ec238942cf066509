"""`kafkadouble serve`: a broker in the foreground.

Rules. It listens before it imports the rest: the kernel takes connections meanwhile. Nothing is told on stdout before every setting was
looked at and clients are answered; then come lines of `key=value`, `bootstrap.servers` first. stderr is for people. Exit codes: 0 ended by a
signal, 1 the port cannot be had, 2 a wrong option or setting, 3 a data directory that cannot be used.
"""

from __future__ import annotations

import argparse
import errno
import signal
import sys
from typing import TYPE_CHECKING, Any, NoReturn

from ..listening import listen, text_of

if TYPE_CHECKING:
    from kafkadouble.server.settings import Settings

DEFAULT_HOST, DEFAULT_PORT = "127.0.0.1", 9092
NO_PORT, WRONG_USE = 1, 2


def main(words: list[str]) -> int:
    """Serve until a signal comes."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    options = parser().parse_args(words)
    try:
        settings = _settings(options) if options.config or options.setting else None
        host, port = _place(options, settings)
    except (ValueError, OSError) as problem:  # a UsageError is a ValueError, and its class is not imported for nothing
        return _fail(WRONG_USE, str(problem))
    try:
        sock = listen(host, port)
    except (OSError, OverflowError) as problem:
        return _fail(NO_PORT, _no_port(host, port, problem))
    with sock:
        from asyncio import run

        from kafkadouble.server.settings import Settings

        from .serving import serve

        return run(serve(options, settings or Settings(), sock))


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        "kafkadouble serve",
        description="Run a broker until it is interrupted. When clients are answered it prints lines of key=value, the first "
        "bootstrap.servers=HOST:PORT; connections and errors are told on stderr. All data is in memory, and gone at the end, unless "
        "there is a data directory.",
        formatter_class=_formatter,
        epilog="Exit codes: 0 ended by SIGINT or SIGTERM, 1 the port cannot be had, 2 a wrong option or setting, 3 a data directory "
        "that cannot be used.",
    )
    add = made.add_argument
    add("--host", help=f"the address to listen on (default {DEFAULT_HOST}: this machine only)")
    add("--port", type=_port, help=f"the port to listen on, 0 for any free one (default {DEFAULT_PORT})")
    add(
        "--advertised",
        type=_advertised,
        metavar="HOST:PORT",
        help="what clients are told to connect to (default: where it listens)",
    )
    add(
        "--topic",
        type=_topic,
        action="append",
        default=[],
        metavar="NAME[:PARTITIONS]",
        help="a topic to begin with; may be repeated",
    )
    add(
        "--config",
        metavar="FILE",
        help="a server.properties of Kafka; of its listeners the first that is not a controller's counts",
    )
    add(
        "-c",
        dest="setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one setting of Kafka's broker; wins over the file",
    )
    add(
        "--data-dir",
        metavar="DIR",
        action="append",
        default=[],
        help="keep everything in Kafka's own files in this directory, which is made if it is not there; may be repeated",
    )
    add("--seed", type=int, help="repeat every choice that is made at random, such as ids")
    add("-v", "--verbose", action="store_true", help="tell every request, too")
    add("-q", "--quiet", action="store_true", help="tell nothing but what is wrong")
    return made


def _formatter(prog: str) -> argparse.HelpFormatter:
    """Of a fixed width: asking for the terminal's would import `shutil`, which costs as much as a fifth of the server."""
    return argparse.HelpFormatter(prog, width=110)


def _port(text: str) -> int:
    port = int(text)
    if not 0 <= port <= 65535:
        raise argparse.ArgumentTypeError(f"{port} is no port: those go from 0 to 65535")
    return port


def _advertised(text: str) -> tuple[str, int]:
    host, _, port = text.rpartition(":")
    if not host or not port.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not HOST:PORT")
    return host.removeprefix("[").removesuffix("]"), _port(port)


def _topic(text: str) -> tuple[str, int]:
    name, colon, count = text.partition(":")
    if not name or (colon and (not count.isdecimal() or int(count) < 1)):
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME or NAME:PARTITIONS, with at least one partition")
    return name, int(count or 1)


def _settings(options: argparse.Namespace) -> Settings:
    from kafkadouble.server.settings import Settings, assignments, properties

    given = []
    if options.config:
        with open(options.config, encoding="utf-8") as file:
            given += properties(file.read(), options.config)
    return Settings(sources=[*given, *assignments(options.setting)])


def _place(options: argparse.Namespace, settings: Settings | None) -> tuple[str, int]:
    """Where to listen: as the options say, else as the settings do."""
    host, port = DEFAULT_HOST, DEFAULT_PORT
    if settings is not None and "listeners" in settings.given:
        from .listener_settings import client_listener

        host, port = client_listener(settings, DEFAULT_HOST)
    return options.host or host, port if options.port is None else options.port


def _no_port(host: str, port: int, problem: Exception) -> str:
    place = text_of(host, port)
    if isinstance(problem, OSError) and problem.errno == errno.EADDRINUSE:
        return f"{place} is taken: something listens there already; --port 0 takes any free port"
    return f"cannot listen on {place}: {getattr(problem, 'strerror', None) or problem}"


def _fail(code: int, sentence: str) -> int:
    print(f"kafkadouble: {sentence}", file=sys.stderr)
    return code


def _leave(number: int, frame: Any) -> NoReturn:
    raise SystemExit(0)
