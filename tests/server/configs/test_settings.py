"""The settings of a node: sources, refusals, getters."""

import subprocess
import sys
from pathlib import Path

import pytest

from kafkadouble.engine.member_settings import of_broker
from kafkadouble.server.configs import without_effect
from kafkadouble.server.configs.broker import BROKER
from kafkadouble.server.configs.describe import ConfigSource, describe_broker
from kafkadouble.server.configs.settings import (
    DOUBLE_DEFAULTS,
    Settings,
    assignments,
    parse_properties,
    properties,
    split_unknown,
)
from kafkadouble.server.configs.without_effect import WITHOUT_EFFECT
from kafkadouble.wire.errors import UsageError
from tests.support.setting_readers import as_python

OF_A_REAL_BROKER = """
# What a freshly unpacked Kafka 4 is started with.
process.roles=broker,controller
node.id=1
controller.quorum.bootstrap.servers=localhost:9093
listeners=PLAINTEXT://:9092,CONTROLLER://:9093
inter.broker.listener.name=PLAINTEXT
advertised.listeners=PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
listener.security.protocol.map=CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT,SASL_SSL:SASL_SSL
num.network.threads=3
num.io.threads=8
socket.send.buffer.bytes=102400
socket.receive.buffer.bytes=102400
socket.request.max.bytes=104857600
log.dirs=kraft-combined-logs
num.partitions=1
num.recovery.threads.per.data.dir=1
offsets.topic.replication.factor=1
share.coordinator.state.topic.replication.factor=1
share.coordinator.state.topic.min.isr=1
transaction.state.log.replication.factor=1
transaction.state.log.min.isr=1
log.retention.hours=168
log.segment.bytes=1073741824
log.retention.check.interval.ms=300000
"""


def test_a_double_begins_with_its_own_defaults() -> None:
    settings = Settings()
    assert settings.int("node.id") == settings.int("broker.id") == 1
    assert settings.int("group.initial.rebalance.delay.ms") == 0
    assert settings.list("process.roles") == ["broker", "controller"]
    entries = {entry.name: entry for entry in describe_broker(settings)}
    for name, (text, reason) in DOUBLE_DEFAULTS.items():
        assert (entries[name].value, entries[name].source) == (text, ConfigSource.STATIC_BROKER)
        assert BROKER[name].parse(text) != BROKER[name].default_value(), "a row that changes nothing"
        assert reason.endswith(".")
    assert entries["broker.id"].source is ConfigSource.STATIC_BROKER
    assert entries["num.partitions"].source is ConfigSource.DEFAULT


def test_the_settings_of_a_real_broker_are_taken() -> None:
    settings = Settings(sources=properties(OF_A_REAL_BROKER))
    assert settings.int("log.retention.hours") == 168
    assert settings.text("inter.broker.listener.name") == "PLAINTEXT"
    assert len(settings.given) == 24
    assert settings.without_effect() == [
        "num.network.threads",
        "num.io.threads",
        "socket.send.buffer.bytes",
        "socket.receive.buffer.bytes",
        "num.recovery.threads.per.data.dir",
    ]


def test_later_sources_win_and_a_program_wins_over_all() -> None:
    sources = [
        *properties("num.partitions=2\nnum.partitions = 3\nlog.retention.ms=5"),
        *assignments(["log.retention.ms=6"]),
    ]
    settings = Settings(
        {"num.partitions": 4, "auto.create.topics.enable": False, "log.cleanup.policy": ["delete", "compact"]}, sources
    )
    assert settings.int("num.partitions") == 4
    assert settings.int("log.retention.ms") == 6
    assert settings.bool("auto.create.topics.enable") is False
    assert settings["log.cleanup.policy"] == ("delete", "compact")
    assert settings.given["log.retention.ms"] == "-c log.retention.ms=6"


def test_the_old_name_of_the_id() -> None:
    assert Settings({"broker.id": 7}).int("node.id") == 7
    assert Settings({"node.id": 7}).int("broker.id") == 7
    with pytest.raises(UsageError, match="must be set to the same value"):
        Settings({"node.id": 7, "broker.id": 8})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (
            "\nnum.partition=2",
            r"server.properties line 2: unknown setting 'num.partition'; .*; did you mean 'num.partitions'\?",
        ),
        (
            "num.partitions=0",
            "server.properties line 1: Invalid value 0 for configuration num.partitions: Value must be at least 1",
        ),
        ("# a\nlog.cleanup.policy=\\\n  never", "server.properties line 2: Invalid value never"),
        (
            "zookeeper.connect=localhost:2181",
            "line 1: unknown setting 'zookeeper.connect'; Kafka 4.4 has none of this name",
        ),
        ("listener.name.a.ssl.keystore.locaton=x", r"did you mean 'listener.name.a.ssl.keystore.location'\?"),
        (
            "listeners=nonsense",
            "server.properties line 1: Invalid value .*Unable to parse nonsense to a broker endpoint",
        ),
        ("\n\nlog.roll.ms=0", "server.properties line 3: log.roll.ms must be greater than or equal to 1"),
        ("a=\\u1", "server.properties line 1: .*hexadecimal"),
    ],
)
def test_a_wrong_setting_is_refused_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        Settings(sources=properties(text))


def test_unknown_settings_are_kept_and_change_nothing() -> None:
    known, unknown = split_unknown(
        properties("confluent.a=1\nnum.partitions=2\nlistener.name.a.unheard.of=3\nrsm.config.b=4")
    )
    settings = Settings(sources=known, unknown=unknown)
    assert [name for _, name, _ in settings.unknown] == ["confluent.a", "listener.name.a.unheard.of"]
    assert settings.without_effect() == ["rsm.config.b"]
    for other in (settings.of_node(4), settings.altered({}, {}), of_broker(settings, 1, 2, ("localhost", 9093))):
        assert (other.unknown, other.texts["confluent.a"]) == (settings.unknown, "1")
    with pytest.raises(UsageError, match=r"unknown setting 'confluent\.a'"):
        Settings({"confluent.a": 1}, sources=known, unknown=unknown)


def test_settings_of_plugins_and_listeners_are_accepted() -> None:
    names = [
        "config.providers.file.class",
        "rsm.config.a",
        "listener.name.sasl.plain.sasl.jaas.config",
        "metrics.jmx.d",
    ]
    settings = Settings(sources=properties("".join(f"{name}=c\n" for name in names)))
    assert settings.text("listener.name.sasl.plain.sasl.jaas.config") == "c"
    assert settings.without_effect() == [name for name in names if "jaas" not in name]


@pytest.mark.parametrize("word", ["num.partitions", "=4", ""])
def test_an_assignment_has_a_name_and_a_value(word: str) -> None:
    with pytest.raises(UsageError, match="given as name=value"):
        assignments([word])
    assert assignments(["sasl.jaas.config=a=b"]) == [("-c sasl.jaas.config=a=b", "sasl.jaas.config", "a=b")]


def test_a_value_is_something_that_text_can_say() -> None:
    with pytest.raises(UsageError, match="not None"):
        Settings({"num.partitions": None})
    assert Settings({"log.cleaner.min.cleanable.ratio": 0.25}).float("log.cleaner.min.cleanable.ratio") == 0.25


def test_a_getter_gives_its_type_or_a_reason() -> None:
    settings = Settings()
    for wrong in (
        lambda: settings.int("listeners"),
        lambda: settings.int("auto.create.topics.enable"),
        lambda: settings.bool("num.partitions"),
        lambda: settings.float("num.partitions"),
        lambda: settings.list("compression.type"),
        lambda: settings.text("log.retention.ms"),
    ):
        with pytest.raises(UsageError, match=r" is .*, not "):
            wrong()
    assert settings["log.retention.ms"] is None
    with pytest.raises(UsageError, match=r"unknown setting 'num.partition'; did you mean 'num.partitions'\?"):
        settings["num.partition"]
    assert repr(Settings({"num.partitions": 2})) == "settings of node 1, 1 of them given"


def test_dynamic_configurations_make_other_settings_of_the_same_node() -> None:
    settings = Settings({"log.retention.hours": 1, "num.partitions": 2})
    other = settings.altered({"log.retention.ms": "5", "message.max.bytes": "6"}, {"message.max.bytes": "7"})
    assert (other["log.retention.ms"], other.int("message.max.bytes"), other.int("num.partitions")) == (5, 7, 2)
    assert other.int("log.retention.hours") == 168, "minutes and hours give way to milliseconds"
    assert settings["log.retention.ms"] is None
    assert other.given == settings.given


def test_properties_may_be_read_alone() -> None:
    assert parse_properties("a = b\n") == [(1, "a", "b")]


def test_reading_some_settings_loads_little() -> None:
    script = (
        "import sys; from kafkadouble.server.configs.settings import Settings; s = Settings(); "
        "s.int('num.partitions'), s.int('socket.request.max.bytes'), s.int('group.max.size'), s.bool('delete.topic.enable'); "
        "print(*sorted(name for name in sys.modules if 'configs.' in name or name in ('difflib', 'decimal', 'dataclasses')))"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    loaded = {name.rpartition(".")[2] for name in run.stdout.split()}
    rows = {"broker_quorum", "broker_network", "broker_logs", "broker_groups"}
    assert loaded == rows | {"broker", "definition", "layers", "properties", "settings", "table"}, (
        "no checks, no rules, no rows of TLS"
    )


@pytest.mark.parametrize(
    ("name", "is_read"),
    [
        ("group.min.session.timeout.ms", True),
        ("group.consumer.min.heartbeat.interval.ms", True),
        ("group.streams.max.standby.replicas", True),
        ("log.retention.minutes", True),
        ("remote.log.storage.system.enable", True),
        ("num.io.threads", False),
        ("early.start.listeners", False),
    ],
)
def test_only_settings_that_nothing_reads_are_without_effect(name: str, is_read: bool) -> None:
    assert (name in WITHOUT_EFFECT) is not is_read
    settings = Settings({name: BROKER[name].default or ("PLAINTEXT" if name.startswith("early") else 5)})
    assert settings.without_effect() == ([] if is_read else [name])


def test_the_settings_without_effect_are_made_from_the_code() -> None:
    file = Path(without_effect.__file__)
    assert file.read_text() == as_python(), "run: make generate"


def test_a_read_of_a_setting_without_effect_fails_a_test() -> None:
    namespace: dict[str, object] = {"__name__": "kafkadouble.server.threads", "settings": Settings()}
    with pytest.raises(AssertionError, match=r"kafkadouble\.server\.threads reads num\.io\.threads"):
        exec("settings.int('num.io.threads')", namespace)
    exec("settings.int('num.partitions')", namespace)
