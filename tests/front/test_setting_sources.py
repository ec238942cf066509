"""Which source of a setting wins, for every setting that more than one can give: what other words
imply, a file, the setting by its name, and a word of its own (docs/server.md)."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, ConfigResource, NewTopic

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.messages.generated.describe_log_dirs import DescribeLogDirsRequest
from tests.support.ports import free_ports
from tests.support.serving import run, serving

PATIENCE_S = 20
STANDARD = "org.apache.kafka.metadata.authorizer.StandardAuthorizer"


class Source(IntEnum):
    """The weakest first."""

    IMPLIED, FILE, NAME, WORD = range(1, 5)


class Row(NamedTuple):
    """A setting, and what it is in force if the source is the strongest that gives it."""

    setting: str
    values: Mapping[Source, str]


ROWS = [
    Row("super.users", {Source.FILE: "User:file", Source.NAME: "User:name", Source.WORD: "User:word;User:third"}),
    Row("authorizer.class.name", {Source.IMPLIED: STANDARD}),
    Row("sasl.enabled.mechanisms", {Source.IMPLIED: "PLAIN,SCRAM-SHA-256,SCRAM-SHA-512", Source.FILE: "PLAIN"}),
    Row("connections.max.reauth.ms", {Source.FILE: "60000", Source.NAME: "70000"}),
    Row("ssl.client.auth", {Source.IMPLIED: "requested", Source.FILE: "none", Source.NAME: "required"}),
    Row("ssl.principal.mapping.rules", {Source.FILE: "DEFAULT", Source.NAME: "RULE:^CN=(.*?),.*$/$1/,DEFAULT"}),
]
USERS = dict.fromkeys(("admin", "file", "name", "word", "third"), "secret")
ACLS = ["User:admin allow DESCRIBE_CONFIGS cluster"]
"""With it the client may look also if it is no super user."""

EACH = [[*Source][:count] for count in range(1, len(Source) + 1)]
IDS = [each[-1].name for each in EACH]


def given(source: Source) -> dict[str, str]:
    return {row.setting: row.values[source] for row in ROWS if source in row.values}


def in_force(config: dict[str, Any]) -> dict[str, str]:
    resource = ConfigResource(ConfigResource.Type.BROKER, "1")
    client = AdminClient({**config, "log_level": 0})
    found = client.describe_configs([resource])[resource].result(PATIENCE_S)
    return {name: entry.value for name, entry in found.items()} | {"super.users": super_users(config)}


def super_users(config: dict[str, Any]) -> str:
    """Those of the users that may create topics: DescribeConfigs does not show `super.users`."""
    found = []
    for name in USERS if "sasl.username" in config else ["ANONYMOUS"]:
        client = AdminClient({**config, **({"sasl.username": name} if name in USERS else {}), "log_level": 0})
        with suppress(KafkaException):
            client.create_topics([NewTopic("t", 1, 1)], validate_only=True)["t"].result(PATIENCE_S)
            found.append(f"User:{name}")
    return ";".join(found)


def assert_in_force(config: dict[str, Any], sources: Collection[Source]) -> None:
    """What a client reads of each setting is what the strongest of these sources gives."""
    found = in_force(config)
    right = {"super.users": ""} | {
        row.setting: row.values[max(row.values.keys() & set(sources))]
        for row in ROWS
        if row.values.keys() & set(sources)
    }
    assert {name: found[name] for name in right} == right


def options(sources: Collection[Source], folder: Path) -> list[str]:
    """The file and the settings by name."""
    file = folder / "server.properties"
    file.write_text("".join(f"{name}={value}\n" for name, value in given(Source.FILE).items()))
    words = ["--port", "0"]
    if Source.FILE in sources:
        words += ["--config", str(file)]
    if Source.NAME in sources:
        words += [word for name, value in given(Source.NAME).items() for word in ("-c", f"{name}={value}")]
    return words


def client_of(bootstrap: str) -> dict[str, Any]:
    return {
        "bootstrap.servers": bootstrap,
        "security.protocol": "SASL_SSL",
        "enable.ssl.certificate.verification": False,
        "sasl.mechanism": "PLAIN",
        "sasl.username": "admin",
        "sasl.password": USERS["admin"],
    }


@pytest.mark.parametrize("sources", EACH, ids=IDS)
def test_on_the_command_line_the_strongest_source_wins(sources: list[Source], tmp_path: Path) -> None:
    users = [word for name, password in USERS.items() for word in ("--user", f"{name}:{password}")]
    words = ["--security", "SASL_SSL", *users, "--acl", *ACLS]
    if Source.WORD in sources:
        words += [word for user in given(Source.WORD)["super.users"].split(";") for word in ("--super-user", user)]
    with serving(*options(sources, tmp_path), *words) as served:
        assert_in_force(client_of(served.startup["bootstrap.servers"]), sources)


@pytest.mark.parametrize("sources", EACH, ids=IDS)
def test_a_scenario_is_as_strong_as_the_words_of_the_command_line(sources: list[Source], tmp_path: Path) -> None:
    scenario: dict[str, Any] = {"security": "SASL_SSL", "users": USERS, "acls": ACLS}
    if Source.WORD in sources:
        scenario["super_users"] = given(Source.WORD)["super.users"].split(";")
    path = tmp_path / "scenario.yaml"
    path.write_text(json.dumps(scenario))
    with serving(*options(sources, tmp_path), "--scenario", str(path)) as served:
        assert_in_force(client_of(served.startup["bootstrap.servers"]), sources)


@pytest.mark.parametrize("sources", [each for each in EACH if each[-1] is not Source.FILE], ids=str)
def test_in_a_program_the_strongest_source_wins(sources: list[Source]) -> None:
    there = [source for source in sources if source is not Source.FILE]
    config = given(Source.NAME) if Source.NAME in there else None
    super_users = given(Source.WORD)["super.users"].split(";") if Source.WORD in there else None
    with KafkaDouble(security="SASL_SSL", users=USERS, acls=ACLS, super_users=super_users, config=config) as kafka:
        assert_in_force(kafka.client_config("admin"), there)


def test_super_users_of_a_file_stay_when_acls_are_given(tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("super.users=User:ANONYMOUS\n")
    with serving("--config", str(file), "--port", "0", "--acl", "User:bob allow READ topic:orders") as served:
        assert in_force({"bootstrap.servers": served.startup["bootstrap.servers"]})["super.users"] == "User:ANONYMOUS"


@pytest.mark.parametrize("sources", EACH[1:], ids=IDS[1:])
def test_addresses_and_directories_follow_the_order_of_setting_sources(sources: list[Source], tmp_path: Path) -> None:
    """The words of these are --port, --advertised and --data-dir."""
    ports = dict(zip(Source, free_ports(len(Source)), strict=True))
    folders = {source: tmp_path / source.name for source in Source}
    settings = {
        source: {
            "listeners": f"PLAINTEXT://127.0.0.1:{ports[source]}",
            "advertised.listeners": f"PLAINTEXT://{source.name.lower()}.example:{ports[source]}",
            "log.dirs": str(folders[source]),
        }
        for source in (Source.FILE, Source.NAME)
    }
    file = tmp_path / "server.properties"
    file.write_text("node.id=1\n" + "".join(f"{name}={value}\n" for name, value in settings[Source.FILE].items()))
    words = ["--config", str(file)]
    if Source.NAME in sources:
        words += [word for name, value in settings[Source.NAME].items() for word in ("-c", f"{name}={value}")]
    if Source.WORD in sources:
        words += ["--port", str(ports[Source.WORD]), "--advertised", f"word.example:{ports[Source.WORD]}"]
        words += ["--data-dir", str(folders[Source.WORD])]
    both = tmp_path / "both.properties"
    both.write_text(f"node.id=1\nlog.dirs={folders[Source.FILE]},{folders[Source.NAME]}\n")
    assert run("format", "-t", "AAAAAAAAAAAAAAAAAAAAAQ", "-c", str(both)).returncode == 0
    with serving(*words) as served:
        strongest = sources[-1]
        assert served.startup["bootstrap.servers"] == f"{strongest.name.lower()}.example:{ports[strongest]}"
        served.address = "127.0.0.1", ports[strongest]
        assert [result.log_dir for result in served.ask(DescribeLogDirsRequest(topics=None), 4).results] == [
            str(folders[strongest])
        ]


@pytest.mark.parametrize("source", [Source.FILE, Source.NAME], ids=lambda each: each.name)
def test_listeners_of_settings_and_of_security_are_refused_together(source: Source, tmp_path: Path) -> None:
    file = tmp_path / "server.properties"
    file.write_text("listeners=PLAINTEXT://127.0.0.1:0\n")
    words = ("--config", str(file)) if source is Source.FILE else ("-c", file.read_text().strip())
    ended = run("serve", *words, "--security", "SSL")
    assert ended.returncode == 2
    assert "--security gives the broker its listener, and listeners does so, too: leave out --security" in ended.stderr
    with pytest.raises(UsageError, match="listeners: give host and port, or listeners="):
        KafkaDouble(security="SSL", config={"listeners": "PLAINTEXT://127.0.0.1:0"})


def test_a_user_of_a_word_wins_over_one_of_a_file_and_that_over_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "users"
    file.write_text("word:of the file\nfile:of the file\n")
    monkeypatch.setenv("KAFKADOUBLE_USERS", "word:of the environment\nfile:of the environment\nenv:of the environment")
    words = ("--security", "SASL_PLAINTEXT", "--user", "word:of the words", "--users-file", str(file))
    with serving(*words) as served:
        for name, password in (("word", "of the words"), ("file", "of the file"), ("env", "of the environment")):
            plain = {"security.protocol": "SASL_PLAINTEXT", "sasl.username": name, "sasl.password": password}
            client = AdminClient({**client_of(served.startup["bootstrap.servers"]), **plain, "log_level": 0})
            assert client.list_topics(timeout=PATIENCE_S).brokers
