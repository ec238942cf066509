"""The settings of the pytest plugin: ini options, command line, and the marker of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple

import pytest

MARKER = "kafka_double"
MARKER_HELP = (
    "kafka_double(brokers=3, stepped=True, ...): arguments of KafkaDouble for the broker of this test; with data_dir=True and "
    "capture=True in the folder of the test; "
    "scenario=FILE beside the test's file; strict_rules=True fails a test whose fault rules matched no request"
)

FRESH, RESET, NAMESPACE, NONE = ISOLATIONS = ("fresh", "reset", "namespace", "none")


class Option(NamedTuple):
    """A setting: its type in the ini file, its default, what it means, and the name of its value
    on the command line, where a flag has none."""

    ini_type: Any
    default: Any
    help: str
    metavar: str | None = None
    choices: Sequence[str] | None = None


OPTIONS: dict[str, Option] = {
    "kafkadouble_isolation": Option(
        "string",
        FRESH,
        "How tests that use kafka_double are isolated: fresh (a new broker on a new port for every test; the default), reset (one broker "
        "for the session, on one port, emptied after each test), namespace (one broker for the session; tests take unique names from "
        "kafka_namespace), none (one broker for the session)",
        choices=ISOLATIONS,
    ),
    "kafkadouble_config": Option(
        "linelist",
        [],
        "Settings of Kafka's broker for every broker that the fixtures start, one name=value per line",
        "NAME=VALUE",
    ),
    "kafkadouble_brokers": Option(
        "string", "1", "The number of brokers of each KafkaDouble that the fixtures start", "N"
    ),
    "kafkadouble_listeners": Option(
        "linelist", [], "Listeners of each broker, one NAME or NAME=PORT per line", "NAME[=PORT]"
    ),
    "kafkadouble_stepped": Option("bool", False, "Time stands still until a test calls advance"),
    "kafkadouble_data_dir": Option("bool", False, "Each broker keeps its data in a temporary folder, not in memory"),
    "kafkadouble_capture": Option("string", "", "A folder for captures of all requests", "DIR"),
    "kafkadouble_scenario": Option(
        "string",
        "",
        "A scenario file, *.yaml or *.toml, with which each KafkaDouble that the fixtures start begins",
        "FILE",
    ),
    "kafkadouble_security": Option(
        "string",
        "",
        "The protocol of each KafkaDouble that the fixtures start: SSL, SASL_PLAINTEXT or SASL_SSL",
        "PROTOCOL",
    ),
    "kafkadouble_users": Option(
        "linelist", [], "The users that log in with SASL, one NAME:PASSWORD per line", "NAME:PASSWORD"
    ),
    "kafkadouble_acls": Option(
        "linelist",
        [],
        "ACLs of each KafkaDouble, one per line, such as User:alice allow READ topic:orders*; clients may then do only what one allows",
        "ACL",
    ),
    "kafkadouble_strict_rules": Option("bool", False, "A test fails if one of its fault rules matched no request"),
    "kafka_broker": Option(
        "string",
        "double",
        "What kafka_double connects to: double, local (Apache Kafka from kafka_home), container (testcontainers), or HOST:PORT of a "
        "running Kafka. Tests that call what only a double can do are skipped",
        "double|local|container|HOST:PORT",
    ),
    "kafka_home": Option(
        "string",
        "",
        "The folder of an unpacked Kafka, or one with its jars, for kafka_broker=local; the default is KAFKA_HOME of the environment",
        "DIR",
    ),
    "kafka_client_config": Option(
        "string",
        "",
        "A file of client properties, such as security.protocol and sasl.jaas.config, with which kafka_double connects to HOST:PORT",
        "FILE",
    ),
}
"""By their name in the ini file. On the command line it has hyphens, and overrides the ini file."""


def add(parser: pytest.Parser) -> None:
    """Defines every option."""
    group = parser.getgroup("kafkadouble", "kafkadouble: a Kafka broker for tests")
    for name, row in OPTIONS.items():
        parser.addini(name, row.help, type=row.ini_type, default=row.default)
        more = f"{row.help}. Overrides the ini option"
        if row.ini_type == "bool":
            group.addoption(_flag(name), action="store_true", default=None, help=more)
        elif row.ini_type == "linelist":
            group.addoption(
                _flag(name), action="append", default=[], metavar=row.metavar, help=f"{more}; may be repeated"
            )
        else:
            group.addoption(_flag(name), choices=row.choices, metavar=row.metavar, help=more)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def value(config: pytest.Config, name: str) -> Any:
    """The value of an option: the command line, else the ini file. Lists are joined, the command
    line last."""
    given = config.getoption(_flag(name))
    if OPTIONS[name].ini_type == "linelist":
        return [*config.getini(name), *given]
    return config.getini(name) if given is None else given


def isolation(config: pytest.Config) -> str:
    """The isolation of tests in this run."""
    chosen = value(config, "kafkadouble_isolation")
    if chosen not in ISOLATIONS:
        raise pytest.UsageError(f"kafkadouble_isolation is {', '.join(ISOLATIONS)}, not {chosen!r}")
    return str(chosen)


def brokers(config: pytest.Config) -> int:
    """The number of brokers that the run sets."""
    text = str(value(config, "kafkadouble_brokers"))
    if not text.isdecimal() or int(text) < 1:
        raise pytest.UsageError(f"kafkadouble_brokers is a number from 1 on, not {text!r}")
    return int(text)


def _settings(config: pytest.Config) -> dict[str, str]:
    found = {}
    for line in value(config, "kafkadouble_config"):
        name, equals, text = line.partition("=")
        if not equals:
            raise pytest.UsageError(f"kafkadouble_config: {line!r} is not name=value")
        found[name.strip()] = text.strip()
    return found


def _listeners(config: pytest.Config) -> dict[str, int]:
    found = {}
    for line in value(config, "kafkadouble_listeners"):
        name, _, port = (part.strip() for part in line.partition("="))
        if not name or not (port or "0").isdecimal():
            raise pytest.UsageError(f"kafkadouble_listeners: {line!r} is not NAME or NAME=PORT")
        found[name] = int(port or 0)
    return found


def _security(config: pytest.Config) -> dict[str, Any]:
    """The protocol, with the users, and the ACLs that the run sets."""
    found: dict[str, Any] = {}
    if security := value(config, "kafkadouble_security"):
        found["security"] = security
    users = {}
    for line in value(config, "kafkadouble_users"):
        name, colon, password = line.partition(":")
        if not colon:
            raise pytest.UsageError(f"kafkadouble_users: the line of {name!r} is not NAME:PASSWORD")
        users[name.strip()] = password
    if users:
        found["users"] = users
    if acls := value(config, "kafkadouble_acls"):
        found["acls"] = acls
    return found


def arguments(config: pytest.Config, folder: Callable[[], Path], given: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments for KafkaDouble: those of the run, overridden by the given ones. `folder`
    returns a folder for the data of one broker."""
    found: dict[str, Any] = {"brokers": brokers(config)}
    if listeners := _listeners(config):
        found["listeners"] = listeners
    if value(config, "kafkadouble_stepped"):
        found["stepped"] = True
    if value(config, "kafkadouble_data_dir"):
        found["data_dir"] = True
    if capture := value(config, "kafkadouble_capture"):
        found["capture"] = config.rootpath / capture
    if scenario := value(config, "kafkadouble_scenario"):
        found["scenario"] = config.rootpath / scenario
    own = _security(config)
    if "security" in given:  # which has users of its own
        own.pop("users", None)
    found |= {**own, **given, "config": {**_settings(config), **(given.get("config") or {})}}
    for name in ("data_dir", "capture"):
        if found.get(name) is True:
            found[name] = folder() / name
    return {name: each for name, each in found.items() if each is not False}


MARKED = (
    "brokers",
    "config",
    "stepped",
    "listeners",
    "seed",
    "data_dir",
    "capture",
    "capture_bodies",
    "capture_frames",
    "peer_requests",
    "telemetry",
    "controller_port",
    "scenario",
    "security",
    "users",
    "oauthbearer",
    "certificate",
    "acls",
    "super_users",
    "strict_rules",
)
"""What the marker takes."""


def marked(node: Any) -> dict[str, Any]:
    """The arguments of the markers of a test, and of its parameter for the fixture; the closest one
    overrides the others. Settings of `config` override one another by their names."""
    found: dict[str, Any] = {}
    for given in _given(node):
        for name in given:
            if name not in MARKED:
                # The plugin alone loads no server.
                from kafkadouble.server.configs.did_you_mean import nearest

                near = nearest(name, MARKED)
                hint = f": it takes {', '.join(MARKED)}" if near is None else f": did you mean {near!r}?"
                raise pytest.UsageError(f"the marker {MARKER} has no argument {name!r}{hint}")
        configs = [each for each in (found.get("config"), given.get("config")) if each]
        found |= given
        if len(configs) > 1 and all(isinstance(config, Mapping) for config in configs):
            found["config"] = {**configs[0], **configs[1]}
        elif configs:
            found["config"] = configs[-1]
    return found


def _given(node: Any) -> Iterator[Mapping[str, Any]]:
    """The arguments of each marker, the farthest first, and at last those of the parameter."""
    for mark in reversed(list(node.iter_markers(MARKER))):
        if mark.args:
            raise pytest.UsageError(f"the marker {MARKER} takes keywords, not {mark.args[0]!r}")
        yield mark.kwargs
    parameter = getattr(getattr(node, "callspec", None), "params", {}).get(MARKER)
    if isinstance(parameter, Mapping):
        yield parameter


def check_parameter(request: pytest.FixtureRequest) -> None:
    """Raises pytest.UsageError for a parameter of the fixture that is not its arguments."""
    parameter = getattr(request, "param", {})
    if not isinstance(parameter, Mapping):
        raise pytest.UsageError(
            f"{MARKER} is parametrized with {parameter!r}: give arguments of the marker, such as {{'brokers': 3}}"
        )


def for_double(node: Any) -> dict[str, Any]:
    """The arguments of the markers that are for KafkaDouble. A scenario is beside the test's
    file."""
    found = marked(node)
    found.pop("strict_rules", None)
    if isinstance(found.get("scenario"), str | PathLike):
        found["scenario"] = node.path.parent / found["scenario"]
    return found


def has_own_scenario(item: Any) -> bool:
    """Whether the scenario of a test's double is that of the test, and not that of the run."""
    return "scenario" in marked(item)


def is_strict(item: Any) -> bool:
    """Whether a rule that matched no request fails this test."""
    return bool(marked(item).get("strict_rules", value(item.config, "kafkadouble_strict_rules")))
