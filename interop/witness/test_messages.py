"""Every message of Kafka in every version: Kafka's own generated classes read and write random
messages of ours."""

from __future__ import annotations

import copy
import json
from collections import Counter
from collections.abc import Callable, Iterator

import pytest

from kafkadouble.messages import registry
from kafkadouble.messages.message import Message

from .java import Witness
from .making import Maker
from .verdict import Case, case_of, problems, question, smallest

SEED = 20261121
NAMES = [entry.name for entry in registry.entries() if not entry.retired]
MESSAGE_VERSIONS = 744

Count = Callable[[str, object], None]


def versions_of(name: str) -> range:
    low, high = registry.entry(name).versions
    return range(low, high + 1)


def test_the_messages_are_kafkas(witness: Witness) -> None:
    theirs = {name: range(low, high + 1) for name, (_, low, high) in json.loads(witness.answer("list")[0]).items()}
    assert {name: versions_of(name) for name in NAMES} == theirs
    assert sum(map(len, theirs.values())) == MESSAGE_VERSIONS


def test_the_apis_are_kafkas(witness: Witness) -> None:
    theirs = json.loads(witness.answer("apis")[0])
    ours = {}
    for api in registry.apis():
        (low, high), stable = api.versions, api.stable_versions[1]
        headers = {
            str(version): [api.request_header_version(version), api.response_header_version(version)]
            for version in range(low, high + 1)
        }
        ours[str(api.key)] = [api.name, low, stable, high, sorted(api.listeners), headers]
    for row in theirs.values():
        row[4] = sorted(word.lower() for word in row[4])
    assert ours == theirs


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("name", NAMES)
def test_kafka_agrees(name: str, witness: Witness, dose: int, record_property: Count) -> None:
    print(f"seed {SEED}")
    sent: list[SentMessage] = []
    seen: Counter[bool] = Counter()
    for version in versions_of(name):
        # The messages of one version are made and sent while the previous version is answered.
        made = list(ask(witness, name, version, dose))
        check(witness, sent)
        sent = made
        seen.update(bool(case.json) for _, case in made)
    check(witness, sent)
    assert seen[True] == dose * len(versions_of(name))
    record_property("message-versions", len(versions_of(name)))
    record_property("messages", seen[True])
    record_property("messages with unknown tags", seen[False])


SentMessage = tuple[Message, Case]


def ask(witness: Witness, name: str, version: int, dose: int) -> Iterator[SentMessage]:
    """Messages that Kafka's JSON can express, and each of them again with unknown tags, which it
    cannot."""
    maker = Maker((SEED, name, version))
    for message in maker.messages(registry.message(name), version, dose):
        yield put_one(witness, message, version, with_json=True)
        tagged = copy.deepcopy(message)
        if maker.add_unknown_tags(tagged, version):
            yield put_one(witness, tagged, version, with_json=False)


def put_one(witness: Witness, message: Message, version: int, with_json: bool) -> SentMessage:
    case = case_of(message, version, with_json)
    witness.ask(*question(case))
    return message, case


def check(witness: Witness, sent: list[SentMessage]) -> None:
    answers = [witness.answered() for _ in sent]
    for (message, case), answer in zip(sent, answers, strict=True):
        if any(problems(case, answer, type(message))):
            pytest.fail(smallest(witness, message, case.version, bool(case.json)))
