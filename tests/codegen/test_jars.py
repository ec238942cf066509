"""Compares our specs with those in jars: every kind of difference is found in small jars made here,
with the right exit codes."""

from __future__ import annotations

import json
import os
import stat
import zipfile
from collections.abc import Callable
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest

from codegen import compare, jars, maven

Spec = dict[str, Any]

PING: Spec = {
    "apiKey": 7,
    "type": "request",
    "name": "PingRequest",
    "validVersions": "0-3",
    "flexibleVersions": "2+",
    "listeners": ["broker", "controller"],
    "commonStructs": [
        {"name": "Pair", "versions": "0+", "fields": [{"name": "Key", "type": "string", "versions": "0+"}]},
    ],
    "fields": [
        {"name": "Id", "type": "int32", "versions": "0+", "default": "-1", "about": "The identifier of the client that sends this ping."},
        {"name": "Text", "type": "string", "versions": "1+", "nullableVersions": "1+", "default": "null"},
        {"name": "Pairs", "type": "[]Pair", "versions": "0+"},
        {
            "name": "Inner",
            "type": "[]Inner",
            "versions": "2+",
            "fields": [
                {"name": "Key", "type": "bytes", "versions": "2+", "zeroCopy": True},
                {"name": "Mark", "type": "bool", "versions": "2+", "taggedVersions": "2+", "tag": 0},
            ],
        },
    ],
}  # fmt: skip
NEW: Spec = {"name": "New", "type": "int8", "versions": "3+"}
PONG: Spec = {"type": "data", "name": "Pong", "validVersions": "0", "flexibleVersions": "none", "fields": []}
VERSION = "9.8.7"


class World:
    """A cache with the jars of one made-up version, and a folder of our specs beside it."""

    def __init__(self, root: Path) -> None:
        self.cache, self.ours = root / "cache", root / "specs"

    def jars(self, *specs: Spec, version: str = VERSION, text: Callable[[Spec], str] = json.dumps) -> None:
        """Makes every family's jar: `specs` are in that of the clients, PONG is in that of
        storage."""
        folder = self.cache / f"kafka-{version}"
        folder.mkdir(parents=True)
        for artifact in maven.FAMILIES:
            with zipfile.ZipFile(folder / f"{artifact}-{version}.jar", "w") as archive:
                archive.writestr("META-INF/version.json", '{"not": "a spec"}')
                if artifact == "kafka-storage":
                    archive.writestr("message/Pong.json", json.dumps(PONG))
                for spec in specs if artifact == "kafka-clients" else ():
                    archive.writestr(f"common/message/{spec['name']}.json", text(spec))

    def commit(self, *specs: Spec, family: str = "clients") -> None:
        """Adds specs to our own of one family."""
        (self.ours / family).mkdir(parents=True, exist_ok=True)
        for spec in specs:
            (self.ours / family / f"{spec['name']}.json").write_text(json.dumps(spec), encoding="utf-8")

    def run(self, *arguments: str) -> int:
        """Runs the command line on this cache and these specs; returns the exit code."""
        return jars.main([*arguments, "--kafka", VERSION, "--specs", str(self.ours)])


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> World:
    made = World(tmp_path)
    monkeypatch.setenv("KAFKADOUBLE_CACHE", str(made.cache))
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))  # no Maven, unless a test adds one
    made.commit(PONG, family="storage")
    return made


def changed(*path: str | int, **facts: object) -> Spec:
    """PING with other facts at a path; None removes a key."""
    spec = deepcopy(PING)
    place: Any = spec
    for step in path:
        place = place[step]
    for key, value in facts.items():
        place.pop(key) if value is None else place.update({key: value})
    return spec


DIFFERENCES = [
    (changed(apiKey=8), "PingRequest: api key ours 7, theirs 8"),
    (changed(type="response"), "PingRequest: type ours request, theirs response"),
    (changed(validVersions="0-4"), "PingRequest: valid versions ours 0-3, theirs 0-4"),
    (changed(validVersions="none"), "PingRequest: valid versions ours 0-3, theirs none"),
    (changed(deprecatedVersions="0"), "PingRequest: deprecated versions ours none, theirs 0"),
    (changed(flexibleVersions="3+"), "PingRequest: flexible versions ours 2+, theirs 3+"),
    (changed(latestVersionUnstable=True), "PingRequest: latest version unstable ours no, theirs yes"),
    (changed(listeners=["broker"]), "PingRequest: listeners ours broker controller, theirs broker"),
    (changed("fields", 0, type="int64"), "PingRequest.Id: type ours int32, theirs int64"),
    (changed("fields", 0, versions="0-2"), "PingRequest.Id: versions ours 0+, theirs 0-2"),
    (changed("fields", 0, default="0"), "PingRequest.Id: default ours -1, theirs 0"),
    (changed("fields", 0, default=None), "PingRequest.Id: default ours -1, theirs 0"),
    (changed("fields", 0, mapKey=True), "PingRequest.Id: map key ours no, theirs yes"),
    (changed("fields", 0, ignorable=True), "PingRequest.Id: ignorable ours no, theirs yes"),
    (changed("fields", 0, entityType="brokerId"), "PingRequest.Id: entity type ours unknown, theirs brokerId"),
    (changed("fields", 1, nullableVersions="2+"), "PingRequest.Text: nullable versions ours 1+, theirs 2+"),
    (changed("fields", 1, default=""), 'PingRequest.Text: default ours null, theirs ""'),
    (changed("fields", 1, flexibleVersions="none"), "PingRequest.Text: flexible versions ours as the message, theirs none"),
    (changed("fields", 3, "fields", 0, zeroCopy=None), "PingRequest.Inner.Key: zero copy ours yes, theirs no"),
    (changed("fields", 3, "fields", 1, tag=1), "PingRequest.Inner.Mark: tag ours 0, theirs 1"),
    (changed("fields", 3, "fields", 1, taggedVersions="3+"), "PingRequest.Inner.Mark: tagged versions ours 2+, theirs 3+"),
    (changed("fields", 3, "fields", 1, default="true"), "PingRequest.Inner.Mark: default ours false, theirs true"),
    (changed("commonStructs", 0, versions="1+"), "PingRequest[Pair]: versions ours 0+, theirs 1+"),
    (changed("commonStructs", 0, "fields", 0, versions="1+"), "PingRequest[Pair].Key: versions ours 0+, theirs 1+"),
    (changed(fields=PING["fields"][1:]), "PingRequest.Id: only in ours (int32, versions 0+)"),
    (changed(fields=PING["fields"][:3]), "PingRequest.Inner: only in ours ([]Inner, versions 2+)"),
    (changed(fields=[*PING["fields"], NEW]), "PingRequest.New: only in theirs (int8, versions 3+)"),
    (changed(fields=PING["fields"][:2] + PING["fields"][:1:-1]), "PingRequest: field order ours Pairs first, theirs Inner first"),
]  # fmt: skip


@pytest.mark.parametrize(("theirs", "line"), DIFFERENCES, ids=[line for _, line in DIFFERENCES])
def test_each_kind_of_difference_is_one_line(
    world: World, capsys: pytest.CaptureFixture[str], theirs: Spec, line: str
) -> None:
    world.commit(changed("fields", 0, about="Who asks."))
    world.jars(theirs)
    assert world.run("--check") == 1
    assert capsys.readouterr().out.splitlines()[:-1] == [line]


SAME = [
    changed("fields", 0, default=-1),
    changed("fields", 0, mapKey=False, ignorable=False, entityType="unknown"),
    changed("fields", 0, versions="0-32767"),
    changed("fields", 2, default=""),
    changed("fields", 3, "fields", 1, tag="0", default=False),
    changed("fields", 3, "fields", 1, versions=None),
    changed(listeners=["controller", "broker"], deprecatedVersions="none", latestVersionUnstable=False),
]


@pytest.mark.parametrize("theirs", SAME)
def test_spellings_of_the_same_spec_are_no_difference(world: World, theirs: Spec) -> None:
    world.commit(changed("fields", 0, about="Who asks."))
    world.jars(theirs, text=lambda spec: "// a licence\n" + json.dumps(spec, indent=1).replace(",\n", ", /* here */\n"))
    assert world.run("--check") == 0


def test_defaults_of_a_spec_have_one_text() -> None:
    def default(kind: str, *given: object) -> str:
        return compare.FIELD_FACTS["default"]({"type": kind, "default": given[0]} if given else {"type": kind})

    assert default("int32", "0x7f") == default("int32", 127) == "127"
    assert default("int16") == default("uint16", "0") == "0"
    assert default("float64", "1") == default("float64", 1.0) == "1.0"
    assert default("bool") == default("bool", "False") == "false"
    assert default("[]int32", None) == default("[]int32") == default("Inner") == "empty"
    assert default("uuid") == "zero"
    assert default("string", "null") == "null" != default("string", "")


def test_a_message_that_one_side_lacks_is_found(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.jars(PING)
    assert world.run("--check") == 1
    assert "PingRequest: only in theirs (clients)" in capsys.readouterr().out
    world.commit(PING, changed(name="Extra"), family="raft")
    assert world.run("--check") == 1
    out = capsys.readouterr().out
    assert "Extra: only in ours (raft)" in out
    assert "PingRequest: family ours raft, theirs clients" in out


COPIES = [
    ("The identifier of the client that sends this ping.", "copy of theirs"),
    ("the identifier, of the client that sends this PING", "copy of theirs"),
    ("The identifier of the client that sent this ping.", "near copy"),
    ("Names the client; -1 for none.", ""),
]


@pytest.mark.parametrize(("about", "finding"), COPIES)
def test_prose_that_copies_theirs_is_found(
    world: World, capsys: pytest.CaptureFixture[str], about: str, finding: str
) -> None:
    world.commit(changed("fields", 0, about=about))
    world.jars(PING)
    assert world.run("--check") == (1 if finding else 0)
    out = capsys.readouterr().out
    assert finding in out
    assert ("PingRequest.Id: about is a " in out) == bool(finding)


def test_prose_copied_from_another_place_is_found_but_short_phrases_are_free(world: World) -> None:
    world.jars(PING)
    world.commit(changed("fields", 0, about="Who asks."))
    assert world.run("--check") == 0
    elsewhere = changed("fields", 1, about=PING["fields"][0]["about"])
    elsewhere["fields"][0]["about"] = "Who asks."
    world.commit(elsewhere)
    assert world.run("--check") == 1


def test_a_broken_spec_is_named(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.jars(PING, text=lambda _: '{"name": ')
    assert world.run("--check") == 1
    assert "kafka-clients-9.8.7.jar:common/message/PingRequest.json" in capsys.readouterr().err
    (world.ours / "clients").mkdir()
    (world.ours / "clients" / "Bad.json").write_text("[]", encoding="utf-8")
    assert world.run("--check") == 1
    assert "Bad.json" in capsys.readouterr().err


def test_diff_reports_what_a_newer_version_changes(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.jars(PING, version="1.0.0")
    world.jars(changed("fields", 0, versions="1+"), version="1.1.0")
    assert jars.main(["--diff", "1.0.0", "1.1.0"]) == 0
    first, last = capsys.readouterr().out.splitlines()
    assert first == "PingRequest.Id: versions 1.0.0 0+, 1.1.0 1+"
    assert last == "1 differences between 1.0.0 and 1.1.0"


def test_extract_keeps_the_about_texts_of_our_specs(world: World, tmp_path: Path) -> None:
    world.jars(changed("commonStructs", 0, "fields", 0, about="Their words.") | {"validVersions": "0-9"})
    ours = changed("fields", 0, about="Our words.")
    ours["commonStructs"][0]["fields"][0]["about"] = "Ours too."
    world.commit(ours)
    assert world.run("--extract", str(tmp_path / "out")) == 0
    text = (tmp_path / "out" / "clients" / "PingRequest.json").read_text(encoding="utf-8")
    assert '"validVersions": "0-9"' in text
    assert "Our words." in text
    assert "Ours too." in text
    assert "ping" not in text
    assert "Their" not in text
    assert (tmp_path / "out" / "storage" / "Pong.json").is_file()


def test_jar_check_without_maven_exits_with_3(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    assert world.run("--check") == 3
    assert "NOT CHECKED" in (message := capsys.readouterr().err)
    assert "Maven (mvn) is not on the PATH" in message


def test_a_jar_that_is_none_is_no_ground_for_a_verdict(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    world.jars(PING)
    (world.cache / f"kafka-{VERSION}" / f"kafka-raft-{VERSION}.jar").write_bytes(b"half a jar")
    assert world.run("--check") == 3
    assert f"kafka-raft-{VERSION}.jar cannot be read" in capsys.readouterr().err


@pytest.mark.skipif(os.name != "posix", reason="the stand-in for Maven is a shell script")
class TestMaven:
    """A shell script stands in for Maven."""

    @pytest.fixture(autouse=True)
    def _java(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("JAVA_HOME", "somewhere")

    def stand_in(self, tmp_path: Path, script: str) -> None:
        mvn = tmp_path / "bin" / "mvn"
        mvn.parent.mkdir()
        mvn.write_text(f"#!/bin/sh\n{script}\n", encoding="utf-8")
        mvn.chmod(mvn.stat().st_mode | stat.S_IXUSR)

    def test_jar_download_is_called_once_and_fills_the_cache(self, world: World, tmp_path: Path) -> None:
        world.jars(PING)
        store = world.cache / f"kafka-{VERSION}"
        store.rename(tmp_path / "registry")
        world.commit(changed("fields", 0, about="Who asks."))
        self.stand_in(
            tmp_path,
            f'for a; do case $a in -DoutputDirectory=*) /bin/cp {tmp_path}/registry/* "${{a#*=}}";; esac; done',
        )
        assert world.run("--check") == 0
        (tmp_path / "bin" / "mvn").unlink()
        assert world.run("--check") == 0
        assert [path.name for path in world.cache.iterdir()] == [store.name]

    def test_failed_jar_download_is_reported_and_leaves_no_file(
        self, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.stand_in(tmp_path, "printf '\\033[31m[ERROR] no such version\\033[0m\\nmore\\n'; exit 1")
        assert world.run("--check") == 3
        assert capsys.readouterr().err.strip().endswith("Maven ended with 1: [ERROR] no such version")
        assert not list(world.cache.iterdir())

    def test_jars_that_it_did_not_bring_are_named(
        self, world: World, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        self.stand_in(tmp_path, "exit 0")
        assert world.run("--check") == 3
        assert f"kafka-clients-{VERSION}.jar" in capsys.readouterr().err

    def test_java_is_required_first(
        self, world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.delenv("JAVA_HOME")
        self.stand_in(tmp_path, "exit 0")
        assert world.run("--check") == 3
        assert "Java is not on the PATH" in capsys.readouterr().err


def test_the_committed_specs_are_those_of_the_release(capsys: pytest.CaptureFixture[str]) -> None:
    folder = maven.cache_folder(jars.KAFKA)
    if not all((folder / f"{artifact}-{jars.KAFKA}.jar").is_file() for artifact in maven.FAMILIES):
        pytest.skip(f"no jars of Kafka {jars.KAFKA} in the cache; `python -m codegen.jars --check` fetches them")
    assert jars.main(["--check"]) == 0, capsys.readouterr().out
