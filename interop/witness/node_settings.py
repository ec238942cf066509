"""Files of settings, right and slightly wrong, and whether kafkadouble takes them.

Each file is that of a node that Kafka would start, changed in up to four places: a setting of any
name that Kafka defines, with a value that is right, or at the edge of it, or wrong; or a part of
what makes a quorum and its listeners. The same seed makes the same file.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from pathlib import Path
from random import Random

from kafkadouble.__main__ import main
from kafkadouble.cli.parts.settings_file import settings_of_file
from kafkadouble.server.configs.broker import BROKER
from kafkadouble.server.configs.broker_rules import ORDERS
from kafkadouble.server.configs.definition import ConfigKey, ConfigType
from kafkadouble.server.configs.listener_specs import check_routable, listener_specs
from kafkadouble.server.configs.node_rules import check_node
from kafkadouble.server.configs.settings import Settings
from kafkadouble.wire.errors import UsageError

Lines = dict[str, str]

COMBINED: Lines = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "controller.listener.names": "CONTROLLER",
    "controller.quorum.voters": "1@localhost:9093",
}
BROKER_NODE = COMBINED | {"process.roles": "broker", "node.id": "2", "listeners": "PLAINTEXT://localhost:9092"}
CONTROLLER_NODE = COMBINED | {"process.roles": "controller", "listeners": "CONTROLLER://localhost:9093"}
NODES = (COMBINED, BROKER_NODE, CONTROLLER_NODE)
DYNAMIC: Lines = {"controller.quorum.voters": "", "controller.quorum.bootstrap.servers": "localhost:9093"}
MAP = "CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,INTERNAL:PLAINTEXT,SASL_PLAINTEXT:SASL_PLAINTEXT"
FLAGS = ((), ("-N",), ("-s",))
NUMBERS = ("-2", "-1", "0", "1", "2", "1000", "2147483647", "2147483648", "1.5", "", "many")
WRONG = {
    ConfigType.BOOLEAN: ("true", "FALSE", "yes", ""),
    ConfigType.DOUBLE: ("0", "0.5", "1", "-1", "1e9", "half", ""),
}
"""Values of types whose rows say little."""

PARTS: dict[str, tuple[str, ...]] = {
    "process.roles": ("broker", "controller", "broker,controller", "broker,broker", "zookeeper", ""),
    "node.id": ("0", "1", "2", "3", "-1", "one"),
    "broker.id": ("1", "2", "-1"),
    "listeners": (
        "PLAINTEXT://:9092",
        "PLAINTEXT://0.0.0.0:9092",
        "PLAINTEXT://0.0.0.0:9092,CONTROLLER://0.0.0.0:9093",
        "PLAINTEXT://:9092,CONTROLLER://:9093",
        "plaintext://localhost:9092,controller://localhost:9093",
        "CONTROLLER://localhost:9093",
        "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9092",
        "PLAINTEXT://127.0.0.1:9092,CONTROLLER://[::1]:9092",
        "PLAINTEXT://localhost:9092,CONTROLLER://[::1]:9092",
        "INTERNAL://localhost:9094,PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
        "PLAINTEXT://localhost:9092,PLAINTEXT://localhost:9094",
        "SASL_PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
        "PLAINTEXT://local host:9092",
        "PLAINTEXT:localhost:9092",
        "PLAINTEXT://localhost",
        "",
    ),
    "advertised.listeners": (
        "PLAINTEXT://example:9092",
        "PLAINTEXT://:0",
        "PLAINTEXT://0.0.0.0:9092",
        "CONTROLLER://example:9093",
        "CONTROLLER://0.0.0.0:9093,PLAINTEXT://example:9092",
        "INTERNAL://example:9094",
        "SSL://example:9092",
        "PLAINTEXT://a:1,PLAINTEXT://b:2",
    ),
    "controller.listener.names": ("CONTROLLER", "controller", "NOPE", "CONTROLLER,NOPE", "PLAINTEXT", ""),
    "controller.quorum.voters": ("", "1@localhost:9093,2@localhost:9094", "3@localhost:9095", "1@localhost", "x@h:1"),
    "controller.quorum.bootstrap.servers": ("localhost:9093", "localhost:9093,other:9093", "localhost", ""),
    "controller.quorum.auto.join.enable": ("true", "false"),
    "listener.security.protocol.map": (
        MAP,
        MAP.lower(),
        "PLAINTEXT:plaintext,CONTROLLER:Plaintext",
        "PLAINTEXT:PLAINTEXT",
        "PLAINTEXT:PLAINTEXT,CONTROLLER:TLS",
        "PLAINTEXT",
        "",
    ),
    "inter.broker.listener.name": ("PLAINTEXT", "plaintext", "INTERNAL", "NOPE", "CONTROLLER"),
    "security.inter.broker.protocol": ("PLAINTEXT", "plaintext", "SASL_PLAINTEXT", "NOPE"),
    "sasl.mechanism.inter.broker.protocol": ("PLAIN", "GSSAPI"),
    "sasl.enabled.mechanisms": ("PLAIN", "PLAIN,GSSAPI", ""),
    "early.start.listeners": ("PLAINTEXT", "CONTROLLER", "controller", "NOPE", ""),
    "cordoned.log.dirs": ("*", "{0}/a", "/nope", "{0}/a,{0}/b", "*,{0}/a"),
    "log.dirs": ("{0}/a,{0}/b", "{0}/a,{0}/a", "{0}/a, {0}/b", ""),
    "metadata.log.dir": ("{0}/m", "{0}/a"),
    "group.coordinator.rebalance.protocols": ("classic", "consumer", "classic,consumer", "CLASSIC", "none"),
    "offsets.topic.compression.codec": ("0", "4", "5", "9", "-1"),
    "share.coordinator.state.topic.compression.codec": ("1", "5"),
    "group.consumer.assignors": ("range", "uniform,range", "nope", "range,range", ""),
    "group.share.assignors": ("simple", "uniform", "simple,simple"),
    "group.streams.assignors": ("sticky", "nope"),
    "max.connections.per.ip": ("0", "1"),
    "max.connections.per.ip.overrides": ("localhost:3", "h:3,10.0.0.1:4", "a b:3", "h", "h:x", ""),
    "zookeeper.connect": ("localhost:2181",),
    "num.partitons": ("3",),
}
"""Values of what decides together, and names that Kafka does not know; `{0}` is the folder."""


def file_of(seed: int, folder: Path) -> tuple[Lines, tuple[str, ...]]:
    made = Random(seed)
    lines = made.choice(NODES) | {"log.dirs": "{0}/a"}
    if made.random() < 0.4:
        lines |= DYNAMIC
    for _ in range(made.choice((0, 1, 1, 2, 2, 3, 4))):
        made.choice(CHANGES)(made, lines)
    texts = {name: text.replace("{0}", str(folder)) for name, text in lines.items()}
    return texts, made.choice(FLAGS)


def _change_part(made: Random, lines: Lines) -> None:
    name = made.choice([*PARTS])
    lines[name] = made.choice(PARTS[name])


def _change_any(made: Random, lines: Lines) -> None:
    config = made.choice(ROWS)
    lines[config.name] = made.choice(_values(config))


def _change_pair(made: Random, lines: Lines) -> None:
    """Two numbers that must have an order, near to one another."""
    name, _, other = made.choice(ORDERS)
    number = int(BROKER[other].default or 1)
    lines[other] = str(number)
    lines[name] = str(number + made.choice((-1, 0, 1)))


def _leave_out(made: Random, lines: Lines) -> None:
    name = made.choice([*lines])
    if name != "log.dirs":  # its default is a folder that is not this test's
        del lines[name]


CHANGES: tuple[Callable[[Random, Lines], None], ...] = (
    *(_change_part,) * 4,
    *(_change_any,) * 4,
    _change_pair,
    _leave_out,
)
NOT_JUDGED = (ConfigType.CLASS, ConfigType.PASSWORD)
ROWS = [config for config in BROKER if config.type not in NOT_JUDGED and config.name not in PARTS]


def _values(config: ConfigKey) -> tuple[str, ...]:
    """Values of a setting, right and wrong, with the edges of its bounds."""
    found = [config.default or ""]
    for word in config.checks:
        kind, colon, rest = word.partition(":")
        if colon:
            found += [*rest.split(","), rest.split(",")[0].swapcase()]
        elif kind[:2] == ">=" or ".." in kind:
            found += [str(_number(edge) + by) for edge in kind.removeprefix(">=").split("..") for by in (-1, 0, 1)]
    return (*found, *WRONG.get(config.type, NUMBERS))


def _number(text: str) -> int | float:
    return float(text) if "." in text else int(text)


def start_problem(file: Path) -> str:
    """Why `serve` refuses a file, before it opens anything; "" if it does not."""
    try:
        given, unknown = settings_of_file(str(file), strict=False)
        settings = Settings(sources=given, unknown=unknown)
        check_node(settings)
        check_routable(settings, listener_specs(settings))
    except UsageError as problem:
        return str(problem)
    return ""


def format_problem(file: Path, flags: tuple[str, ...]) -> str:
    errors = StringIO()
    with redirect_stderr(errors), redirect_stdout(StringIO()):
        code = main(["format", "--config", str(file), *flags])
    return errors.getvalue().strip().splitlines()[-1] if code else ""
