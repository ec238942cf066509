"""What a scenario refuses, where, and in which words, in YAML and in TOML."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from kafkadouble import KafkaDouble, UsageError
from kafkadouble.scenario.files.document import DEEPEST, MOST_VALUES
from kafkadouble.scenario.files.reading import MOST_BYTES
from kafkadouble.scenario.scenario import load
from kafkadouble.verbs.registry import VERBS

YAML = {
    "an unknown section": ("topcs: []", "1:1: a scenario has no field 'topcs'; did you mean 'topics'?"),
    "no mapping": ("- 1", "1:1: a scenario is a mapping with security, certificate, users, oauthbearer,"),
    "a section that is no list": ("topics: {orders: {}}", "1:9: topics is a list, not {'orders': {}}"),
    "an empty section": ("topics:\n", "1:8: topics is a list, not None"),
    "an unknown protocol": ("security: TLS", "1:11: security is 'TLS': there are SSL, SASL_PLAINTEXT, SASL_SSL"),
    "an unknown certificate": (
        "security: SSL\ncertificate: old",
        "2:14: certificate is valid, expired, self-signed, wrong-host, not 'old'",
    ),
    "a certificate without TLS": (
        "security: SASL_PLAINTEXT\ncertificate: expired",
        "2:14: certificate needs security='SSL' or 'SASL_SSL', not 'SASL_PLAINTEXT'",
    ),
    "users without SASL": (
        "security: SSL\nusers: {alice: secret}",
        "2:8: users need security='SASL_PLAINTEXT' or 'SASL_SSL', not 'SSL'",
    ),
    "users that are a list": ("users: [alice]", "1:8: users has a password for each name, such as {alice: secret}"),
    "a password that is a number": (
        "users:\n  alice: secret\n  bob: 1234",
        "3:8: users: the password of bob is no text of one character or more",
    ),
    "an ACL that is no text": ("acls: [5]", "1:8: an ACL is a text or a mapping with principal, operations, resource,"),
    "an ACL that is incomplete": (
        "acls:\n- User:a allow READ topic:a\n- User:a allow READ",
        "3:3: the ACL 'User:a allow READ' is not of the form",
    ),
    "an ACL with an unknown operation": ("acls: [User:a allow EAT topic:a]", "1:8: there is no operation 'EAT'"),
    "an ACL with an unknown field": (
        "acls: [{principal: User:a, operations: READ, topic: a}]",
        "1:8: an ACL has no field 'topic'; it has principal, operations, resource, permission, host",
    ),
    "an ACL without a field": ("acls: [{principal: User:a}]", "1:8: an ACL needs operations and resource"),
    "a super user without a type": (
        "super_users: [admin]",
        "1:15: a super user is a type and a name, such as User:alice, not 'admin'",
    ),
    "a step with a wrong ACL": (
        "steps: [{at: 1, verb: create_acls, acls: [User:a allow EAT topic:a]}]",
        "1:42: there is no operation 'EAT'",
    ),
    "a step with a wrong password": (
        "steps: [{at: 1, verb: set_user, user: alice, password: 1234}]",
        "1:56: password is a text of one character or more",
    ),
    "a topic that is a text": ("topics: [orders]", "1:10: a topic is a mapping with name, partitions,"),
    "an unknown field": (
        "topics:\n- name: a\n  partitons: 3",
        "3:3: a topic has no field 'partitons'; did you mean 'partitions'?; it has name, partitions, config, "
        "replication_factor, records",
    ),
    "no name": ("topics:\n- partitions: 3", "2:3: create_topic needs name, a name"),
    "a wrong type": ("topics:\n- name: 5", "2:9: name is a name, not 5"),
    "a wrong number": ("topics:\n- name: a\n  partitions: many", "3:15: partitions is a number of partitions, not 'many'"),
    "a wrong config": ("topics: [{name: a, config: 5}]", "1:28: config is a mapping of names to values, not 5"),
    "a topic twice": ("topics:\n- name: a\n- name: a", "3:9: the topic 'a' is there twice"),
    "records that are none": ("topics: [{name: a, records: 5}]", "1:29: records is a list, not 5"),
    "a record that is a number": (
        "topics: [{name: a, records: [x, 5]}]",
        "1:33: a record is a value or a mapping with value, key, headers, partition, timestamp, not 5",
    ),
    "a record with an unknown field": (
        "topics: [{name: a, records: [{valu: x}]}]",
        "1:31: a record has no field 'valu'; did you mean 'value'?",
    ),
    "a record with a wrong field": (
        "topics:\n- name: a\n  records:\n  - {key: k, timestamp: now}",
        "4:25: timestamp is an integer, milliseconds since the epoch, not 'now'",
    ),
    "a record that is no base64": ("topics: [{name: a, records: [{base64: '?'}]}]", "1:30: a record has no field"),
    "a record of a missing partition": (
        "topics:\n- name: a\n  partitions: 2\n  records:\n  - {value: x, partition: 2}",
        "5:27: a has 2 partition(s), from 0 on, and so no partition 2",
    ),
    "a group with an unknown field": (
        "groups: [{group: g, ofsets: {}}]",
        "1:21: a group has no field 'ofsets'; did you mean 'offsets'?",
    ),
    "a group without offsets": ("groups: [{group: g}]", "1:10: commit_offsets needs offsets, a mapping of"),
    "a group with no offset": ("groups: [{group: g, offsets: {}}]", "1:30: offsets is a mapping of (topic, partition)"),
    "a negative offset": (
        "groups:\n- group: g\n  offsets:\n    a: {0: 1, 1: -1}",
        "4:18: offsets is a mapping of (topic, partition) to an offset from 0, not {('a', 1): -1}",
    ),
    "offsets of no partition": ("groups: [{group: g, offsets: {a: 5}}]", "1:34: a is a mapping of partitions to offsets, not 5"),
    "offsets that are a list": ("groups: [{group: g, offsets: [1]}]", "1:30: offsets is a mapping of topics to offsets"),
    "an offset of a missing partition": (
        "topics: [{name: a}]\ngroups:\n- group: g\n  offsets: {a: {1: 0}}",
        "4:17: a has 1 partition(s), from 0 on, and so no partition 1",
    ),
    "a group twice": (
        "groups:\n- {group: g, offsets: {a: {0: 0}}}\n- {group: g, offsets: {a: {0: 0}}}",
        "3:11: the group 'g' is there twice",
    ),
    "a rule with an unknown part": ("rules: [{acton: {}}]", "1:10: a rule has no field 'acton'; did you mean 'action'?"),
    "a rule without an action": ("rules:\n- match: {api: Fetch}", "2:3: a rule needs an action, an object with a type"),
    "a rule with an unknown action": (
        "rules:\n- match: {api: Fetch}\n  action: {type: fali, error: 5}",
        "3:18: a rule has no action 'fali'; did you mean 'fail'?",
    ),
    "a rule for an unknown API": (
        "rules:\n- match: {api: Fetchh}\n  action: {type: ignore}",
        "2:16: Kafka has no API 'Fetchh'; did you mean 'Fetch'?",
    ),
    "a rule with an unknown error": (
        "rules:\n- match: {api: Fetch}\n  action: {type: fail, error: NOT_LEADER}",
        "3:31: Kafka has no error 'NOT_LEADER'",
    ),
    "a rule with an unknown field": (
        "rules:\n- match: {api: Fetch, topc: a}\n  action: {type: ignore}",
        "2:23: the match of a rule has no field 'topc'; did you mean 'topic'?",
    ),
    "a rule with a wrong field": (
        "rules:\n- match: {api: Fetch}\n  action: {type: ignore}\n  trigger: {times: 0}",
        "4:20: times of a rule is a count from 1",
    ),
    "a rule with a function": (
        "rules:\n- match: {api: Fetch, predicate: f}\n  action: {type: ignore}",
        "2:34: predicate of a rule is a function, not 'f'",
    ),
    "a step that is a text": ("steps: [kill_broker]", "1:9: a step is a mapping with at, verb and the parameters"),
    "a step without a verb": ("steps: [{at: 1}]", "1:9: a step needs verb, the name of a verb"),
    "a step without a time": ("steps: [{verb: down}]", "1:9: a step needs at, a number of seconds from 0"),
    "a step in the past": ("steps: [{at: -1, verb: down}]", "1:14: at is a number of seconds from 0 to 31536000, not -1"),
    "a step that never comes": ("steps: [{at: .inf, verb: down}]", "1:14: at is a number of seconds from 0 to"),
    "a step at no time": ("steps: [{at: .nan, verb: down}]", "1:14: at is a number of seconds from 0 to"),
    "a step at noon": ("steps: [{at: noon, verb: down}]", "1:14: at is a number of seconds from 0 to"),
    "a step with an unknown verb": (
        "steps: [{at: 1, verb: kill_brokr, broker: 1}]",
        "1:23: there is no verb 'kill_brokr'; did you mean 'kill_broker'?",
    ),
    "a step whose verb is a number": ("steps: [{at: 1, verb: 5}]", "1:23: verb is the name of a verb, not 5"),
    "a step with an unknown parameter": (
        "steps: [{at: 1, verb: kill_broker, brokr: 1}]",
        "1:36: a step with kill_broker has no field 'brokr'; did you mean 'broker'?; it has at, every, until, verb, broker",
    ),
    "a step without a parameter": ("steps: [{at: 1, verb: kill_broker}]", "1:9: kill_broker needs broker, the id of a broker"),
    "a step with a wrong parameter": (
        "steps: [{at: 1, verb: kill_broker, broker: one}]",
        "1:44: broker is the id of a broker, not 'one'",
    ),
    "a step that needs a function": (
        "steps: [{at: 1, verb: 'on', api: Fetch, function: f}]",
        "1:23: on cannot be a step: it needs function, a function, which only a Python program can give",
    ),
    "a step that restores": ("steps: [{at: 1, verb: restore, snapshot: a}]", "1:23: restore cannot be a step: a restore ends"),
    "a step with a function": (
        "steps: [{at: 1, verb: fail, api: Fetch, error: 6, predicate: f}]",
        "1:62: predicate is a function, not 'f'",
    ),
    "a step that waits": ("steps: [{at: 1, verb: wait_for_topic, topic: a}]", "1:23: wait_for_topic cannot be a step: a step"),
    "a step that advances": ("steps: [{at: 1, verb: advance, seconds: 1}]", "1:23: advance cannot be a step: the clock decides"),
    "a step that resets": ("steps: [{at: 1, verb: reset}]", "1:23: reset cannot be a step: a reset applies"),
    "a step with a rule that makes no sense": (
        "steps: [{at: 1, verb: fail, api: Fetchh, error: 6}]",
        "1:9: Kafka has no API 'Fetchh'; did you mean 'Fetch'?",
    ),
    "a step that arms no rule": (
        "steps: [{at: 1, verb: arm, rule: {acton: {}}}]",
        "1:34: a rule has no field 'acton'; did you mean 'action'?",
    ),
    "a key twice": ("topics: []\ntopics: []", "2:1: the key 'topics' is there twice"),
    "a key twice, below": ("topics:\n- name: a\n  name: b", "3:3: the key 'name' is there twice"),
    "a key that is a list": ("? [a]\n: 1", "1:3: a key is a text"),
    "a merge key": ("a: &a {}\ntopics:\n- <<: *a", "3:3: YAML 1.2 has no merge key <<"),
    "a tab": ("topics:\n\t- name: a", "2:1: not YAML: found character"),
    "no YAML": ("topics: []]", "1:11: not YAML: "),
    "two documents": ("topics: []\n---\ntopics: []", "2:1: but found another document"),
    "an unknown alias": ("topics: *a", "1:9: found undefined alias 'a'"),
    "an alias of itself": ("topics: &a [*a]", "a scenario is at most 50 levels deep"),
    "an anchor twice": ("topics: [&a {name: a}, &a {name: b}]", "1:24: second occurrence"),
    "a tag of Python": ("topics: !!python/object/apply:os.system [ls]", "1:9: the tag !!python/object/apply:os.system means"),
    "a tag of another type": ("topics: [{name: a, partitions: !!int x}]", "1:32: 'x' is not of the type !!int"),
    "a tag of binary data": ("topics: [{name: a, records: [!!binary aGk=]}]", "1:30: the tag !!binary means nothing here"),
    "a number with many digits": (f"topics: [{{name: a, partitions: {'9' * 5000}}}]", "1:32: an integer has at most 64 bits"),
    "a number of 68 bits": (f"topics: [{{name: a, partitions: 0x{'f' * 17}}}]", "1:32: an integer has at most 64 bits"),
    "many hexadecimal digits": (f"topics: [{{name: a, partitions: 0x{'f' * 9999}}}]", "1:32: an integer has at most 64"),
    "a null character": ("topics: [\0]", "1:10: not YAML: "),
    "an escaped surrogate": ('topics: ["\\ud800"]', "1:"),
}  # fmt: skip

TOML = {
    "an unknown section": ("topcs = []", "1:1: a scenario has no field 'topcs'; did you mean 'topics'?"),
    "a section that is no list": ("[topics.orders]", "1:2: topics is a list, not {'orders': {}}"),
    "an unknown field": ("[[topics]]\nname = 'a'\npartitons = 3", "3:1: a topic has no field 'partitons'; did you mean"),
    "no name": ("[[topics]]\npartitions = 3", "1:3: create_topic needs name, a name"),
    "a wrong type": ("[[topics]]\nname = 5", "2:8: name is a name, not 5"),
    "a topic twice": ("[[topics]]\nname = 'a'\n[[topics]]\nname = 'a'", "4:8: the topic 'a' is there twice"),
    "a record of a missing partition": (
        "[[topics]]\nname = 'a'\nrecords = [\n  'x', # one\n  { value = 'x', partition = 2 },\n]",
        "5:30: a has 1 partition(s), from 0 on, and so no partition 2",
    ),
    "a record in a table of its own": (
        "[[topics]]\nname = 'a'\n[[topics.records]]\nvalue = 'x'\n[[topics.records]]\nvalu = 'x'",
        "6:1: a record has no field 'valu'",
    ),
    "a negative offset": (
        "[[groups]]\ngroup = 'g'\noffsets.a.0 = -1",
        "3:15: offsets is a mapping of (topic, partition) to an offset from 0, not {('a', 0): -1}",
    ),
    "a rule with a wrong field": (
        "[[rules]]\nmatch = { api = 'Fetch' }\naction = { type = 'ignore' }\n[rules.trigger]\ntimes = 0",
        "5:9: times of a rule is a count from 1",
    ),
    "a step with an unknown verb": ("[[steps]]\nat = 1\nverb = 'kil_broker'", "3:8: there is no verb 'kil_broker'; did you"),
    "a step in the past": ("[[steps]]\nat = -0.5\nverb = 'down'", "2:6: at is a number of seconds from 0"),
    "a step that never comes": ("[[steps]]\nat = inf\nverb = 'down'", "2:6: at is a number of seconds from 0"),
    "a date": ("[[topics]]\nname = 2026-01-01", "2:8: a date or a time is written as a text, not 2026-01-01"),
    "a key twice": ("topics = []\ntopics = []", "2:12: not TOML: Cannot overwrite a value"),
    "no TOML": ("[[topics]\nname = 'a'", "1:9: not TOML: Expected ']]' at the end of an array declaration"),
    "no end": ("topics = [", "1:11: not TOML: Invalid value"),
    "YAML": ("topics:\n- name: a", "1:7: not TOML: Expected '=' after a key"),
    "a number with many digits": (f"x = {'9' * 5000}", "1:5: an integer has at most 64 bits"),
    "a number of 68 bits": (f"x = 0x{'f' * 17}", "1:5: an integer has at most 64 bits"),
    "many hexadecimal digits": (f"x = 0x{'f' * 9999}", "1:5: an integer has at most 64 bits"),
    "a null character": ("topics = '\0'", "1:11: not TOML: "),
}  # fmt: skip

CASES = [(f"x{suffix}", *case) for suffix, cases in ((".yaml", YAML), (".toml", TOML)) for case in cases.values()]
IDS = [f"{suffix} {name}" for suffix, cases in (("yaml", YAML), ("toml", TOML)) for name in cases]


@pytest.fixture(params=["libyaml", "python"])
def _parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """PyYAML parses with libyaml, or without it, as on a machine that has no wheel."""
    if request.param == "python":
        monkeypatch.delattr(yaml, "CSafeLoader")
    else:
        assert yaml.__with_libyaml__


@pytest.mark.usefixtures("_parser")
@pytest.mark.parametrize(("name", "text", "problem"), CASES, ids=IDS)
def test_a_wrong_scenario_is_refused(tmp_path: Path, name: str, text: str, problem: str) -> None:
    path = tmp_path / name
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as refused:
        KafkaDouble(scenario=path)
    said = str(refused.value)
    assert said.startswith(f"{path}:")
    assert problem in said
    assert said.removeprefix(str(path)).startswith(f":{problem}" if problem[0].isdigit() else ":")


@pytest.mark.parametrize("suffix", [".yaml", ".toml"])
@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\x89PNG\r\n\x1a\n\0\0", "1:1: a scenario is a text in UTF-8, and this byte is not"),
        (b"topics = []\n# \xff", "2:3: a scenario is a text in UTF-8"),
        ("topics: []".encode("utf-16"), "1:1: a scenario is a text in UTF-8"),
    ],
)
def test_a_binary_file_is_refused(tmp_path: Path, suffix: str, data: bytes, problem: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=re.escape(f"{path}:{problem}")):
        load(path)


@pytest.mark.parametrize("suffix", [".yaml", ".toml"])
def test_a_huge_file_is_not_read(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"x{suffix}"
    with open(path, "wb") as file:
        file.truncate(1 << 40)  # a sparse file
    with pytest.raises(UsageError, match=f"a scenario has at most {MOST_BYTES} bytes"):
        load(path)


DEEP = {
    ".yaml": [
        "[" * 100_000,
        "{a: " * 100_000,
        "".join(f"{' ' * depth}a:\n" for depth in range(400)),
        "- " * 100_000,
    ],
    ".toml": [
        f"a = {'[' * 100_000}{']' * 100_000}",
        f"a = {'[' * 60}{']' * 60}",
        f"{'a.' * 100_000}a = 1",
        f"[{'a . ' * 100}a]",
        f"""{"'a'." * 100}"b" = 1""",
    ],
}


@pytest.mark.usefixtures("_parser")
@pytest.mark.parametrize(("suffix", "text"), [(suffix, text) for suffix, texts in DEEP.items() for text in texts])
def test_a_deep_file_is_refused(tmp_path: Path, suffix: str, text: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_text(text)
    with pytest.raises(UsageError, match=rf":\d+:\d+: a scenario is at most {DEEPEST} levels deep"):
        load(path)


def test_scenario_whose_anchors_multiply_is_refused(tmp_path: Path) -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, 30)]
    path = tmp_path / "bomb.yaml"
    path.write_text("\n".join(lines))
    with pytest.raises(UsageError, match=f"a scenario has at most {MOST_VALUES} values, and an alias counts each time"):
        load(path)


@pytest.mark.parametrize(("suffix", "text"), [(".yaml", "topics: [{}]"), (".toml", "topics = [{}]")])
def test_a_long_file_is_refused(tmp_path: Path, suffix: str, text: str) -> None:
    path = tmp_path / f"x{suffix}"
    path.write_text(text.format("1," * MOST_VALUES + "1"))
    with pytest.raises(UsageError, match=f"a scenario has at most {MOST_VALUES} values"):
        load(path)


def test_a_long_value_is_not_quoted_in_full(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(f"topics: {'x' * 100_000}")
    with pytest.raises(UsageError, match=r"topics is a list, not 'x+\.\.\.$") as refused:
        load(path)
    assert len(str(refused.value)) < 1000


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("absent.yaml", "the scenario cannot be read: No such file or directory"),
        ("null\0.yaml", "the scenario cannot be read: embedded null byte"),
        ("scenario.json", "a scenario is a file *.yaml, *.yml, *.toml, not *.json"),
        ("scenario.yam", "not *.yam; did you mean '.yaml'?"),
        ("scenario", "a scenario is a file *.yaml, *.yml, *.toml, not *"),
    ],
)
def test_a_file_that_cannot_be_read_is_refused(tmp_path: Path, name: str, problem: str) -> None:
    with pytest.raises(UsageError, match=re.escape(problem)) as refused:
        KafkaDouble(scenario=tmp_path / name)
    assert str(refused.value).startswith(str(tmp_path / name))


def test_only_a_regular_file_is_read(tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "pipe.yaml")
    (tmp_path / "folder.toml").mkdir()
    for name in ("pipe.yaml", "folder.toml"):
        with pytest.raises(UsageError, match="a scenario is a regular file"):
            load(tmp_path / name)


def test_scenario_path_of_another_type_is_refused() -> None:
    wrong: Any = 5
    with pytest.raises(UsageError, match="scenario is the path of a file, not 5"):
        KafkaDouble(scenario=wrong)


@pytest.mark.parametrize(
    ("verb", "given", "call"),
    [
        ("create_topic", "topics: [{name: a, partitions: x}]", lambda: VERBS["create_topic"].check({"name": "a", "partitions": "x"})),
        ("kill_broker", "steps: [{at: 0, verb: kill_broker}]", lambda: VERBS["kill_broker"].check({})),
        ("fail", "steps: [{at: 0, verb: fail, api: F, error: 6}]", lambda: KafkaDouble().fail("F", 6)),
    ],
)  # fmt: skip
def test_error_of_a_scenario_is_that_of_the_verb_in_python(
    tmp_path: Path, verb: str, given: str, call: Callable[[], Any]
) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(given)
    with pytest.raises(UsageError) as of_file:
        load(path)
    with pytest.raises(UsageError) as of_python:
        call()
    assert str(of_file.value).endswith(f": {of_python.value}")


def test_scenario_in_yaml_without_pyyaml_names_the_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    path = tmp_path / "x.yaml"
    path.write_text("topics: []")
    monkeypatch.delitem(sys.modules, "kafkadouble.scenario.files.yaml_form", raising=False)
    monkeypatch.setitem(sys.modules, "yaml", None)
    with pytest.raises(UsageError, match=r"a scenario in YAML needs PyYAML: pip install 'kafkadouble\[scenario\]'"):
        load(path)
