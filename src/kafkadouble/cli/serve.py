"""`kafkadouble serve`: runs a broker in the foreground.

Rules. It listens before it imports the rest; meanwhile the kernel accepts connections. It prints
nothing on stdout before every setting was checked and clients are served; then it prints lines of
`key=value`, `bootstrap.servers` first. stderr is for people. Exit codes: 0 ended by a signal, 1 the
port is not available, 2 a wrong option or setting, 3 a data directory that cannot be used.
"""

from __future__ import annotations

import argparse
import signal
import sys
from os import environ
from typing import TYPE_CHECKING, Any, NoReturn

from kafkadouble.common.listening import listen
from kafkadouble.common.on_first_use import OnFirstUse
from kafkadouble.records import initial_topics

from .parts import option_values
from .serving.serve_problems import in_words, jaas_file_is_not_read, no_port
from .serving.starting import DEFAULT_HOST, DEFAULT_PORT, MORE_USERS, SIGNALS

if TYPE_CHECKING:
    from socket import socket

    from kafkadouble.access import client_access, setting_sources
    from kafkadouble.access.client_access import ClientAccess
    from kafkadouble.access.security import Security
    from kafkadouble.cli.parts import settings_file
    from kafkadouble.cli.serving import serve_control, serve_double, serve_security, serving
    from kafkadouble.seen import capture_files, telemetry
    from kafkadouble.server.configs import settings as server_settings
    from kafkadouble.server.configs.settings import Given, Settings

    from ..scenario.scenario import Scenario
else:  # a start waits for none of them
    server_settings = OnFirstUse("kafkadouble.server.configs.settings")
    capture_files = OnFirstUse("kafkadouble.seen.capture_files")
    client_access = OnFirstUse("kafkadouble.access.client_access")
    serve_control = OnFirstUse("kafkadouble.cli.serving.serve_control")
    serve_double = OnFirstUse("kafkadouble.cli.serving.serve_double")
    serve_security = OnFirstUse("kafkadouble.cli.serving.serve_security")
    serving = OnFirstUse("kafkadouble.cli.serving.serving")
    setting_sources = OnFirstUse("kafkadouble.access.setting_sources")
    settings_file = OnFirstUse("kafkadouble.cli.parts.settings_file")
    telemetry = OnFirstUse("kafkadouble.seen.telemetry")

NO_PORT, WRONG_USE = 1, 2


def main(words: list[str]) -> int:
    """Serves until a signal comes."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    options = parser().parse_args(words)
    if options.until_stdin_ends:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        if options.stepped and options.control_port is None and not options.page:
            raise ValueError("--stepped needs --control-port: only the verb `advance` moves its clock")
        scenario = _scenario(options)
        given, unknown = _given(options)
        access = options.access = _access(options, scenario, given)
        has_settings = bool(given or unknown) or access is not None
        settings, security = _settings(options, given, unknown) if has_settings else (None, None)
        places = _places(options, settings)
        control = _control(options)
        _check_capture(options)
        options.telemetry = _telemetry(options)
    except (ValueError, OSError) as problem:  # a UsageError is a ValueError: its import costs time
        return _fail(WRONG_USE, f"{in_words(problem)}{jaas_file_is_not_read(str(problem))}")
    socks: list[list[socket]] = []
    try:
        for of_node in [*places, control]:  # the control plane is the last one
            socks.append([])
            for place in of_node:
                try:
                    socks[-1].append(listen(*place))
                except (OSError, OverflowError) as problem:
                    return _fail(NO_PORT, no_port(*place, problem))
        from asyncio import run  # seldom needed

        control_sock = next(iter(socks[-1]), None)
        return run(
            serving.serve(options, settings or server_settings.Settings(), socks[:-1], control_sock, scenario, security)
        )
    finally:
        for sock in [sock for opened in socks for sock in opened]:
            sock.close()


def parser() -> argparse.ArgumentParser:
    """The options."""
    made = argparse.ArgumentParser(
        "kafkadouble serve",
        description="Run a broker, or several, until interrupted. When the broker is ready for clients, it prints lines of key=value on "
        "stdout; the first is bootstrap.servers=HOST:PORT (several are separated by commas). Errors and calls of verbs are logged on stderr. "
        "All data is in memory, and is lost at the end, unless there is a data directory.",
        formatter_class=_formatter,
        epilog="Exit codes: 0 ended by SIGINT or SIGTERM, 1 the port is not available, 2 a wrong option or setting, 3 a data "
        "directory that cannot be used. On SIGUSR1 it prints the metrics of metadata snapshots on stderr.",
    )
    add = made.add_argument
    add("--host", help=f"the address to listen on (default {DEFAULT_HOST}: this machine only)")
    add("--port", type=option_values.port, help=f"the port to listen on, 0 for any free one (default {DEFAULT_PORT})")
    add(
        "--brokers",
        type=option_values.count,
        default=1,
        metavar="N",
        help="the number of brokers in the cluster (default 1); --port is the port of the first broker, the others have the next ports",
    )
    add(
        "--controller-port",
        type=option_values.port,
        metavar="PORT",
        help="let other nodes reach the controller on this port, 0 for any free one; a line on stdout has the address",
    )
    add(
        "--advertised",
        type=option_values.advertised,
        metavar="HOST:PORT",
        help="the address that clients receive (default: the address that the broker listens on); further brokers have the "
        "next ports; port 0 means the port that the broker listens on",
    )
    add(
        "--topic",
        type=initial_topics.parse,
        action="append",
        default=[],
        metavar="NAME[:PARTITIONS[:REPLICAS]]",
        help="create this topic at the start, unless it exists, with one partition and default.replication.factor replicas "
        "unless numbers are given; may be repeated",
    )
    add(
        "--acl",
        action="append",
        default=[],
        metavar="TEXT",
        help="create this ACL at the start, and check ACLs: 'User:alice allow READ,WRITE topic:orders*', "
        "'User:* deny ALL topic:audit from 10.0.0.0/8'; clients may then do only what an ACL allows; may be repeated",
    )
    add(
        "--super-user",
        action="append",
        default=[],
        metavar="USER",
        help="let this principal, such as User:admin, do everything; may be repeated",
    )
    add(
        "--config",
        metavar="FILE",
        help="a server.properties of Kafka; it may have several listeners, PLAINTEXT and SSL; with --brokers they are the "
        "listeners of the first broker, and the others have the next ports",
    )
    add(
        "--strict",
        action="store_true",
        help="refuse a setting of --config that Kafka does not know, which is else a warning",
    )
    add(
        "-c",
        dest="setting",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="one setting of Kafka's broker; overrides the file; may be repeated",
    )
    add(
        "--security",
        metavar="PROTOCOL",
        help="SSL, SASL_PLAINTEXT or SASL_SSL: with SSL, clients trust certificates that are made for this run, whose files are in "
        "lines on stdout; with SASL, the users of --user log in by PLAIN, SCRAM-SHA-256 or SCRAM-SHA-512",
    )
    add(
        "--user",
        action="append",
        default=[],
        metavar="NAME[:PASSWORD]",
        help="a user; other users of this machine see a command line, so without a password it is that of KAFKADOUBLE_PASSWORD in "
        "the environment; may be repeated",
    )
    add(
        "--oauthbearer",
        metavar="KIND",
        help="with SASL: clients also log in by OAUTHBEARER; KIND is unsecured (tokens as by Kafka's default), signed (tokens of "
        "POST /oauth/token of the control plane) or any",
    )
    add("--users-file", metavar="FILE", help="more users, each in a line NAME:PASSWORD")
    add(
        "--certificate",
        metavar="KIND",
        help="what the broker shows its clients with SSL: valid (the default), expired, self-signed or wrong-host",
    )
    add(
        "--data-dir",
        metavar="DIR",
        action="append",
        default=[],
        help="keep everything in this directory, in Kafka's own files; it is created if missing; may be repeated",
    )
    add(
        "--capture",
        metavar="FILE",
        help="write a row for each request to this: a file if it ends in .parquet, else a directory, which several runs may share",
    )
    add(
        "--capture-bodies",
        action="store_true",
        help="with --capture: also write the contents of requests and answers, as JSON",
    )
    add(
        "--capture-frames",
        action="store_true",
        help="with --capture: also write the bytes of requests and answers, with records and secrets, for "
        "`kafkadouble replay` and `kafkadouble scripted`",
    )
    add(
        "--seed",
        type=int,
        help="make every random choice repeatable, such as ids; each start on the same data directory makes other choices",
    )
    add(
        "--scenario",
        metavar="FILE",
        help="begin with the topics, records, groups, fault rules and steps of this file, *.yaml or *.toml",
    )
    add(
        "--control-port",
        type=option_values.port,
        metavar="PORT",
        help="serve the control plane, every verb over HTTP, on this port, 0 for any free one; a line on stdout has its URL",
    )
    add(
        "--control-host",
        metavar="HOST",
        help="the address of the control plane (default 127.0.0.1: this machine only; another one needs a token)",
    )
    add(
        "--control-token",
        metavar="TOKEN",
        help="what each call of the control plane must have; better in the environment, as KAFKADOUBLE_CONTROL_TOKEN",
    )
    add(
        "--control-allowed-hosts",
        metavar="NAME,...",
        help="more names of the control plane, which the Host header may have: kafka.example.org, or .example.org for every name in it",
    )
    add(
        "--page",
        action="store_true",
        help="serve the live page, which shows every request; a line on stdout has its URL; --control-port gives the port (default: any)",
    )
    add(
        "--telemetry",
        action="store_true",
        help="let clients push their metrics (KIP-714), which the control plane shows as `telemetry`",
    )
    add(
        "--stepped",
        action="store_true",
        help="let time stand still until the verb `advance` moves it; needs --control-port",
    )
    add(
        "--until-stdin-ends",
        action="store_true",
        help="end when stdin ends, so with the program that holds its other end; SIGINT, which a terminal sends to both, is ignored",
    )
    add("-v", "--verbose", action="store_true", help="also log every connection and every request")
    add(
        "--ready-file",
        metavar="FILE",
        help="write the lines of stdout into this file once clients are accepted, and remove it at the end: a health check of a "
        "container looks for it",
    )
    add(
        "--log-format",
        choices=("text", "json"),
        default="text",
        help="text, or an object of JSON in each line of the log",
    )
    add("-q", "--quiet", action="store_true", help="log only warnings and errors")
    return made


def _formatter(prog: str) -> argparse.HelpFormatter:
    """A formatter of a fixed width: asking for the terminal's would import `shutil`, which costs as
    much as a fifth of the server."""
    return argparse.HelpFormatter(prog, width=110)


def _given(options: argparse.Namespace) -> tuple[list[Given], list[Given]]:
    """The settings of the file and then of -c, and those of the file that are not known."""
    given: list[Given] = []
    unknown: list[Given] = []
    if options.config:
        given, unknown = settings_file.settings_of_file(options.config, options.strict)
    if options.setting:
        given += server_settings.assignments(options.setting)
    return given, unknown


def _access(options: argparse.Namespace, scenario: Scenario | None, given: list[Given]) -> ClientAccess | None:
    """The users and their rights, by the options and the scenario; None without security. Its
    modules are imported only then."""
    names = ("security", "user", "users_file", "oauthbearer", "certificate", "acl", "super_user")
    words = [getattr(options, name) for name in names]
    has_users = bool(given) and MORE_USERS in environ
    if not any(words) and not has_users and (scenario is None or not scenario.access.given):
        return None
    return serve_security.access_of(options, scenario, given)


def _settings(
    options: argparse.Namespace, given: list[Given], unknown: list[Given]
) -> tuple[Settings, Security | None]:
    """All settings, and the security that the options and the scenario give the listeners."""
    port = DEFAULT_PORT if options.port is None else options.port
    hosts = [options.advertised[0]] if options.advertised else []
    listeners = setting_sources.OwnListeners(options.host or DEFAULT_HOST, port, hosts=hosts)
    return setting_sources.settings_of(
        options.access or client_access.ClientAccess(), listeners, given, unknown, serve_security.WORDS
    )


def _places(options: argparse.Namespace, settings: Settings | None) -> list[list[tuple[str, int]]]:
    """The addresses to listen on, for each node: a single one, or each broker, then their
    controller. Without settings this is known before anything else is imported."""
    if settings is not None:
        return [[spec.bind for spec in specs if spec.bind] for specs in serving.planned_listeners(options, settings)]
    host, port = options.host or DEFAULT_HOST, DEFAULT_PORT if options.port is None else options.port
    if port and port + options.brokers > 1 << 16:
        raise ValueError(f"port {port} leaves no {options.brokers} ports: they go up to 65535")
    clients = [[(host, port and port + number)] for number in range(options.brokers)]
    controllers = [] if options.controller_port is None else [(host, options.controller_port)]
    return [[*clients[0], *controllers]] if options.brokers == 1 else [*clients, controllers]


def _control(options: argparse.Namespace) -> list[tuple[str, int]]:
    """The address of the control plane, or None. Its module is imported only then."""
    if options.page and options.control_port is None:
        options.control_port = 0
    if not {options.control_port, options.control_host, options.control_token, options.control_allowed_hosts} - {None}:
        return []
    return serve_control.checked(options)


def _scenario(options: argparse.Namespace) -> Scenario | None:
    """The scenario, checked. Its modules are imported only then."""
    if options.scenario is None:
        return None
    return serve_double.checked_scenario(options)


def _telemetry(options: argparse.Namespace) -> telemetry.TelemetryCollector | None:
    """The collector of the metrics of clients. Its modules are imported only with --telemetry."""
    if not options.telemetry:
        return None
    return telemetry.TelemetryCollector()


def _check_capture(options: argparse.Namespace) -> None:
    """UsageError when nothing can be written where traffic is to be captured."""
    if options.capture is not None:
        capture_files.check(options.capture, frames=options.capture_frames)
    elif options.capture_bodies or options.capture_frames:
        name = "--capture-bodies" if options.capture_bodies else "--capture-frames"
        raise ValueError(f"{name} needs --capture, which gives the path")


def _fail(code: int, sentence: str) -> int:
    print(f"kafkadouble: {sentence}", file=sys.stderr)
    return code


def _leave(number: int, frame: Any) -> NoReturn:
    SIGNALS.append(number)
    raise SystemExit(0)
