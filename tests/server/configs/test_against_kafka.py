"""Compares our tables and verdicts with Apache Kafka 4.4.0's own classes, on machines that have its
jars. A failure prints the seed of the random values."""

import random
import re
from collections.abc import Iterator
from typing import Any

import pytest

from kafkadouble.server.configs import alter, describe
from kafkadouble.server.configs.broker import BROKER
from kafkadouble.server.configs.client_metrics import CLIENT_METRICS
from kafkadouble.server.configs.definition import ConfigKey, ConfigRefused, ConfigType, format_value
from kafkadouble.server.configs.group import GROUP
from kafkadouble.server.configs.layers import Layers
from kafkadouble.server.configs.properties import parse_properties
from kafkadouble.server.configs.table import ConfigDef
from kafkadouble.server.configs.topic import TOPIC
from kafkadouble.wire.errors import UsageError
from tests.server.configs.witness import Witness

TABLES: dict[str, ConfigDef] = {"broker": BROKER, "topic": TOPIC, "group": GROUP, "client_metrics": CLIENT_METRICS}
SEEDS = range(4)
NODE = {
    "process.roles": "broker,controller",
    "node.id": "1",
    "controller.listener.names": "CONTROLLER",
    "listeners": "PLAINTEXT://localhost:9092,CONTROLLER://localhost:9093",
    "controller.quorum.voters": "1@localhost:9093",
}


def facts_of(config: ConfigKey) -> dict[str, Any]:
    return {
        "type": config.type.name,
        "default": config.default,
        "importance": config.importance.upper(),
        "internal": config.internal,
    }


@pytest.fixture(scope="session")
def facts(kafka: Witness) -> Any:
    return kafka.ask(op="facts")


@pytest.mark.parametrize("table", TABLES)
def test_every_row_is_kafkas(table: str, facts: Any) -> None:
    rows = facts[table] + (facts["quota"] if table == "broker" else [])
    theirs = {row["name"]: {key: row[key] for key in ("type", "default", "importance", "internal")} for row in rows}
    assert {config.name: facts_of(config) for config in TABLES[table]} == theirs


def test_modes_are_kafkas(facts: Any) -> None:
    words = {"dynamic-only": "cluster-wide", "per-listener": "per-broker"}
    ours = {config.name: words.get(config.mode, config.mode) for config in BROKER if config.mode != "read-only"}
    assert ours == facts["modes"]
    assert {config.name for config in BROKER if config.mode == "per-listener"} == set(facts["per_listener"])
    assert {config.name for config in BROKER if config.mode == "dynamic-only"} == {
        row["name"] for row in facts["quota"]
    }


def test_synonyms_are_kafkas(facts: Any) -> None:
    ours = {
        config.name: [[name, str(factor)] for name, factor in config.synonyms] for config in TOPIC if config.synonyms
    }
    assert ours == facts["topic_synonyms"]
    brokers = {config.name: config.synonyms[0][0] if config.synonyms else None for config in GROUP}
    assert brokers == facts["group_synonyms"]


PROBES = """
|0|1|-1|-2|-3|2|5|9|10|17|22|23|100|1000|1048575|1048576|2147483639|2147483647|2147483648|-2147483648|-2147483649|32767|32768|
9223372036854775807|9223372036854775808|1.5|0.3|.5|5.|-0.0|1e3|1e-5|123456789.25|1e400|+7|--7|1_0|0x10|NaN|-Infinity|1d|1.5F| 12 |
true|TRUE | false|yes|abc|a b|a,b| a , b ,a|a,,b|,|*|1:2, 3:4|1:2,|x:y|1@h:1|1@h:1,2@[::1]:9|1@h|x@h:1|1@2@h:1|1@h!:2|@h:1|h:1|h|h:x|
http://h:1|latest|Earliest|latest:|by_duration:PT1H|by_duration:pt1.5s|by_duration:P1DT2H3M4S|by_duration:P|by_duration:PT|
by_duration:-PT1H|by_duration:PT-1H|by_duration:1h|read_committed|READ_COMMITTED|gzip|zstd|uncompressed|none|required|delete|
compact, delete|delete,delete|compact,never|PLAINTEXT|SASL_SSL|CreateTime|LogAppendTime|createtime|Bidirectional|RS256|rs256|
broker|broker,controller|consumer,share|classic
""".replace("\n", "").split("|")


def test_every_value_is_judged_as_kafka_judges_it(kafka: Witness) -> None:
    cases = [(table, config, text) for table in TABLES for config in TABLES[table] for text in PROBES if judged(config)]
    questions = [
        {
            "op": "parse",
            "table": "quota" if config.mode == "dynamic-only" else table,
            "name": config.name,
            "value": text,
        }
        for table, config, text in cases
    ]
    differing = []
    for (_, config, text), answer in zip(cases, kafka.ask_all(questions), strict=True):
        ours, theirs = verdict(config, text), answer.get("error", answer.get("value"))
        if config.checks[:1] and config.checks[0].startswith("any-case"):
            theirs = re.sub(r"(insensitive\): ).*", lambda found: found[1] + sorted_words(found[0]), theirs)
        if ours != theirs:
            differing.append((config.name, text, ours, theirs))
    print(*differing[:40], sep="\n")
    assert not differing
    assert len(cases) > 30_000


def judged(config: ConfigKey) -> bool:
    return config.type is not ConfigType.CLASS  # Kafka loads the class


def sorted_words(text: str) -> str:
    return ", ".join(sorted(text.rpartition(": ")[2].split(", ")))


def verdict(config: ConfigKey, text: str) -> str | None:
    try:
        value = config.parse(text)
    except ConfigRefused as refused:
        return str(refused)
    return "[hidden]" if config.sensitive else format_value(value)


@pytest.mark.parametrize("seed", SEEDS)
def test_properties_are_read_as_java_reads_them(kafka: Witness, seed: int) -> None:
    made = random.Random(seed)
    pieces = [
        "a",
        "b",
        "=",
        ":",
        " ",
        "\t",
        "\f",
        "\\",
        "\\\\",
        "#",
        "!",
        "\n",
        "\r",
        "\r\n",
        "\\\n",
        "\\u0041",
        "\\n",
        "é",
        "\\u00zz",
        "u",
    ]
    texts = ["".join(made.choices(pieces, k=made.randrange(14))) for _ in range(500)]
    answers = kafka.ask_all({"op": "properties", "text": text} for text in texts)
    for text, theirs in zip(texts, answers, strict=True):
        try:
            ours: Any = {key: value for _, key, value in parse_properties(text)}
        except UsageError:
            ours = "refused"
        assert ours == (theirs if "class" not in theirs else "refused"), repr(text)


# Whole random brokers: each layer gets some settings, then everything is described and altered.

STATIC = {
    "log.retention.hours": ["24", "-1"],
    "log.retention.minutes": ["90"],
    "log.retention.ms": ["1000", " 5 ", "-5"],
    "log.roll.hours": ["2"],
    "log.roll.jitter.ms": ["7"],
    "log.flush.scheduler.interval.ms": ["500"],
    "log.cleanup.policy": ["compact, delete", ""],
    "min.insync.replicas": ["2"],
    "compression.type": ["gzip"],
    "message.max.bytes": ["2000"],
    "remote.log.storage.system.enable": ["true"],
    "group.consumer.assignor.offload.enable": ["false"],
    "group.consumer.max.session.timeout.ms": ["90000"],
    "group.consumer.session.timeout.ms": ["50000"],
    "group.streams.assignors": ["sticky"],
    "ssl.keystore.password": ["secret"],
    "sasl.jaas.config": ["hidden"],
    "listener.name.internal.ssl.keystore.type": ["PEM"],
    "listener.name.internal.plain.sasl.jaas.config": ["hidden"],
    "leader.replication.throttled.rate": ["55"],
    "unstable.api.versions.enable": ["true"],
    "of.a.plugin": ["what"],
    "num.io.threads": ["4"],
    "log.cleaner.io.max.bytes.per.second": ["12345678.5"],
}
DYNAMIC = {
    "log.retention.ms": ["60000", "abc"],
    "log.roll.ms": ["9"],
    "log.flush.interval.ms": ["11"],
    "log.cleanup.policy": ["delete", "compact,compact"],
    "min.insync.replicas": ["1", "3"],
    "compression.type": ["zstd"],
    "message.max.bytes": ["3000"],
    "leader.replication.throttled.rate": ["66"],
    "num.io.threads": ["6"],
    "num.partitions": ["4"],
    "listener.name.internal.ssl.keystore.location": ["somewhere"],
    "listener.name.internal.max.connections": ["12"],
    "ssl.keystore.location": ["nowhere"],
    "max.connections": ["100"],
    "group.consumer.assignment.interval.ms": ["2000"],
    "of.another.plugin": ["x"],
}
OF_TOPIC = {
    "cleanup.policy": ["compact", " compact , delete", "", "delete"],
    "retention.ms": ["1", "-1", "-2", "2000"],
    "segment.bytes": ["1048576", "1000", " 2000000 "],
    "internal.segment.bytes": ["1000"],
    "min.compaction.lag.ms": ["5", "500"],
    "max.compaction.lag.ms": ["50"],
    "remote.storage.enable": ["true", "false"],
    "remote.log.copy.disable": ["true"],
    "remote.log.delete.on.disable": ["true"],
    "local.retention.ms": ["-1", "-2", "5", "5000"],
    "local.retention.bytes": ["-1", "100"],
    "retention.bytes": ["50", "-1"],
    "remote.copy.lag.ms": ["3", "90000000000", "-1"],
    "remote.copy.lag.bytes": ["3", "300"],
    "leader.replication.throttled.replicas": ["*", "1:2,3:4", "1"],
    "min.cleanable.dirty.ratio": ["0.25", "2"],
    "unheard.of": ["1"],
    "max.message.bytes": ["x" * 40_000],
}
OF_GROUP = {
    "consumer.session.timeout.ms": ["45000", "60000", "1000", "75000"],
    "consumer.heartbeat.interval.ms": ["5000", "15000", "50000"],
    "consumer.assignor.offload.enable": ["false"],
    "share.record.lock.duration.ms": ["15000", "2000", "1"],
    "share.auto.offset.reset": ["earliest", "never"],
    "share.delivery.count.limit": ["3", "11"],
    "streams.num.standby.replicas": ["1", "3"],
    "streams.task.offset.interval.ms": ["15000", "10"],
    "streams.rack.aware.assignment.tags": ["a,b", "a, a"],
    "streams.assignor.name": ["sticky", "loose"],
    "errors.deadletterqueue.topic.name": ["dlq.a", "__a"],
    "unheard.of": ["1"],
}
OF_METRICS = {
    "metrics": ["*", "a.,b.", "a,a", "a,,b"],
    "interval.ms": ["100", "99", "3600001", "x"],
    "match": ["client_id=a.*", "client_id=(", "who=me", "client_id", "client_id=a,client_source_port=1"],
    "unheard.of": ["1"],
}
OF_BROKER = {
    **DYNAMIC,
    "background.threads": ["5", "20", "0", "4", "21"],
    "num.replica.fetchers": ["3", "2"],
    "log.retention.hours": ["5"],
    "log.cleaner.threads": ["2", "-1"],
    "unclean.leader.election.enable": ["maybe"],
    "cordoned.log.dirs": ["*"],
    "ssl.cipher.suites": ["A,B"],
}
KINDS = {2: OF_TOPIC, 4: OF_BROKER, 16: OF_METRICS, 32: OF_GROUP}


def some(made: random.Random, of: dict[str, list[str]], most: int) -> dict[str, str]:
    names = made.sample(sorted(of), made.randrange(most + 1))
    return {name: made.choice(of[name]) for name in names}


def made_up_brokers(seed: int, count: int) -> Iterator[tuple[random.Random, dict[str, dict[str, str]], Layers]]:
    made = random.Random(seed)
    for _ in range(count):
        broker = NODE | some(made, STATIC, 6)
        cluster, own = some(made, DYNAMIC, 4), some(made, DYNAMIC, 4)
        layers = Layers({**broker, "broker.id": "1"}, cluster, own)
        yield made, {"broker": broker, "cluster": cluster, "own": own}, layers


def flat(entry: describe.ConfigEntry) -> list[Any]:
    synonyms = [[name, value, int(source)] for name, value, source in entry.synonyms]
    return [entry.value, entry.read_only, int(entry.source), entry.sensitive, int(entry.type), synonyms]


@pytest.mark.parametrize("seed", SEEDS)
def test_configs_are_described_as_by_kafka(kafka: Witness, seed: int) -> None:
    for made, described, layers in made_up_brokers(seed, 12):
        topic = {name: text for name, text in some(made, OF_TOPIC, 5).items() if verdict_of_row(TOPIC, name, text)}
        group = {name: text for name, text in some(made, OF_GROUP, 4).items() if verdict_of_row(GROUP, name, text)}
        metrics = {
            name: text for name, text in some(made, OF_METRICS, 2).items() if verdict_of_row(CLIENT_METRICS, name, text)
        }
        for type_, name, configs, entries in (
            (2, "t", topic, describe.describe_topic(topic, layers)),
            (4, "1", {}, describe.describe_broker(layers)),
            (4, "", {}, describe.describe_all_brokers(layers)),
            (16, "m", metrics, describe.describe_client_metrics(metrics)),
            (32, "g", group, describe.describe_group(group, layers)),
        ):
            theirs = kafka.ask(op="describe", type=type_, name=name, synonyms=True, configs=configs, **described)
            assert "class" not in theirs, theirs
            assert {entry.name: flat(entry) for entry in entries} == theirs
        created = kafka.ask(
            op="created", configs=topic, **described | {"cluster": dict(layers.cluster), "own": dict(layers.own)}
        )
        ours = {entry.name: flat(entry)[:4] for entry in describe.describe_new_topic(topic, layers)}
        assert ours == created


def verdict_of_row(table: ConfigDef, name: str, text: str) -> bool:
    config = table.get(name)
    try:
        return config is not None and config.parse(text) is not None
    except ConfigRefused:
        return False


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kind", KINDS)
def test_changes_are_judged_as_kafka_judges_them(kafka: Witness, kind: int, seed: int) -> None:
    differing = []
    for made, described, layers in made_up_brokers(seed, 60):
        name = {2: "t", 4: made.choice(["1", ""]), 16: "m", 32: "g"}[kind]
        changes = made_up_changes(made, KINDS[kind])
        held = (
            {} if kind == 4 else {key: text for key, text in some(made, KINDS[kind], 3).items() if key != "unheard.of"}
        )
        current = (described["own"] if name else described["cluster"]) if kind == 4 else held
        target = alter.Target(alter.Resource(kind), name, current, layers, elr=(elr := made.random() < 0.5))
        theirs = kafka.ask(op="alter", elr=elr, type=kind, name=name, changes=changes, configs=held, **described)
        assert "class" not in theirs, theirs
        ours = altered(target, changes)
        values = len(changes) + len(held)
        if like(ours, values) != like(theirs, values):
            differing.append((target, described, changes, ours, theirs))
    print(*differing, sep="\n")
    assert not differing


def like(answer: Any, values: int) -> Any:
    """An answer with only the beginning of its message: long explanations are in our own words. Of
    several wrong values, changed or current, either may be reported."""
    begin = answer.get("message", "").removeprefix("requirement failed: ")[:55]
    return answer | {"message": begin if values < 2 else "message" in answer}


def made_up_changes(made: random.Random, of: dict[str, list[str]]) -> list[list[Any]]:
    changes: list[list[Any]] = []
    for name, text in some(made, of, 3).items():
        operation = made.choice([0, 0, 0, 0, 1, 2, 3])
        changes.append([name, operation, None if operation == 1 or made.random() < 0.05 else text])
    return changes


def altered(target: alter.Target, changes: list[list[Any]]) -> Any:
    try:
        return {
            "records": dict(sorted(alter.altered(target, [alter.AlterConfigOp(*change) for change in changes]).items()))
        }
    except ConfigRefused as refused:
        return {"code": refused.error, "message": str(refused)}
