"""A real broker on our controller at levels of `metadata.version` that changed the log. The broker
understands the log, the records have the versions in which Apache Kafka's controller writes them,
and the cluster is raised to the newest level while it runs.

    pytest interop/controllers/test_levels.py --broker local
    # with Apache Kafka's controller alone
    pytest interop/controllers/test_levels.py --broker local --controllers local
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.framed import decode_record
from kafkadouble.messages.generated.alter_user_scram_credentials import AlterUserScramCredentialsRequest
from kafkadouble.messages.generated.describe_user_scram_credentials import DescribeUserScramCredentialsRequest
from kafkadouble.messages.message import Message
from kafkadouble.server.metadata.metadata_versions import NAMES
from kafkadouble.wire.batch import iter_batches, records_of
from tests.support.client import ask
from tests.support.waiting import eventually

from . import admin, logs
from .deeds import Ledger
from .kinds import Kafka, Kind
from .mixed import Mixed, mixed
from .plan import broker, controller

pytestmark = pytest.mark.timeout(900)

MV, NEWEST = "metadata.version", max(NAMES)
SCRAM, CONTROLLERS = 11, 15
LEVELS = (7, 8, 11, 13, 15, 17, 23, 30, 33)
SHA_256 = 1

BY_CHANCE = {"NoOpRecord", "PartitionChangeRecord", "ProducerIdsRecord"}
"""Record types that may or may not be written, depending on timing."""

BY_CONTENT = {"BrokerRegistrationChangeRecord"}
"""A record type whose version depends on its content."""

Versions = dict[str, set[int]]


def by_level(always: int) -> pytest.MarkDecorator:
    """The levels; a short run includes only one of them."""
    levels = [pytest.param(each, id=NAMES[each], marks=() if each == always else pytest.mark.long) for each in LEVELS]
    return pytest.mark.parametrize("level", levels)


@contextmanager
def cluster(folder: Path, kind: Kind, real: Kafka, level: int) -> Iterator[Mixed]:
    """One controller, one broker."""
    with mixed(folder, controller(0, kind), broker(0, real), release=NAMES[level]) as running:
        yield running


def set_password(bootstrap: str, user: str) -> int:
    of = AlterUserScramCredentialsRequest
    upsertion = of.ScramCredentialUpsertion(
        name=user, mechanism=SHA_256, iterations=4096, salt=b"s", salted_password=b"p"
    )
    code: int = ask(bootstrap, of(upsertions=[upsertion]), 0).results[0].error_code
    return code


def with_password(bootstrap: str) -> list[str]:
    return [result.user for result in ask(bootstrap, DescribeUserScramCredentialsRequest(users=None), 0).results]


def level_of(bootstrap: str) -> int:
    return admin.features(bootstrap)[MV]


def deeds(running: Mixed, level: int) -> Ledger:
    """Does everything that the level supports, through a broker."""
    ledger, bootstrap = Ledger(running.bootstrap), running.bootstrap
    ledger.all("deeds")
    admin.set_quota(bootstrap, "interop", "controller_mutation_rate", 1000.0)
    eventually(lambda: admin.quotas(bootstrap, "interop"))
    code = set_password(bootstrap, "alice")
    assert code == (error_codes.NONE if level >= SCRAM else error_codes.UNSUPPORTED_VERSION)
    return ledger


def written(running: Mixed) -> list[tuple[Message, int]]:
    """The records in the controller's log, with their versions."""
    found = []
    for stored in logs.batches(running.controllers[0].metadata):
        for at, header in iter_batches(stored.data):
            for record in [] if header.is_control else records_of(stored.data, at, header):
                assert record.value is not None
                found.append(decode_record(record.value))
    return found


def kinds(records: list[tuple[Message, int]]) -> Versions:
    versions: Versions = {}
    for message, version in records:
        versions.setdefault(type(message).__name__, set()).add(version)
    return versions


def born(records: list[tuple[Message, int]]) -> list[str]:
    """The records with which the cluster began, before a node registered; the order of features is
    not defined."""
    first = takewhile(lambda each: not type(each[0]).__name__.startswith("Register"), records)
    return sorted(repr(message) for message, _ in first if type(message).__name__ != "NoOpRecord")


@by_level(LEVELS[0])
def test_metadata_version_is_raised_while_the_cluster_serves(
    level: int, ours: Kind, real: Kafka, tmp_path: Path
) -> None:
    with cluster(tmp_path, ours, real, level) as running:
        bootstrap, node = running.bootstrap, running.brokers[0]
        eventually(lambda: level_of(bootstrap), lambda found: found == level)
        ledger = deeds(running, level)
        assert admin.update_feature(bootstrap, MV, NEWEST) == 0
        eventually(lambda: level_of(bootstrap), lambda found: found == NEWEST)
        ledger.all("raised")
        assert set_password(bootstrap, "bob") == 0
        users = ["alice", "bob"] if level >= SCRAM else ["bob"]
        eventually(lambda: with_password(bootstrap), lambda found: sorted(found) == users)
        node.stop()
        running.controllers[0].kill()
        running.controllers[0].start()
        node.start()
        ledger.check()
        assert admin.quotas(bootstrap, "interop") == {"controller_mutation_rate": 1000.0}


@by_level(LEVELS[4])
def test_metadata_records_have_apache_kafkas_versions(level: int, ours: Kind, real: Kafka, tmp_path: Path) -> None:
    found: list[list[tuple[Message, int]]] = []
    for kind, name in ((ours, "ours"), (real, "real")):
        with cluster(tmp_path / name, kind, real, level) as running:
            deeds(running, level)
            running.stop()
            found.append(written(running))
    assert born(found[0]) == born(found[1])
    mine, theirs = map(kinds, found)
    assert mine.keys() - BY_CHANCE == theirs.keys() - BY_CHANCE
    for each in (mine.keys() & theirs.keys()) - BY_CONTENT:
        assert mine[each] == theirs[each], each
