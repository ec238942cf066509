"""The broker of a test, and the witness that the comparisons of assignors with Kafka ask."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kafkadouble.server.java import hash_tables
from tests.server.configs.witness import Witness, running
from tests.server.groups.bench import Bench


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture(scope="session")
def assignor_witness() -> Iterator[Witness]:
    """The assignors of Apache Kafka 4.4.0, and the hash tables of Java, to compare with."""
    yield from running(Path(__file__).with_name("AssignorWitness.java"))


@pytest.fixture
def kafka(assignor_witness: Witness, monkeypatch: pytest.MonkeyPatch) -> Witness:
    """The order of a copied set depends on the release of Java, so we imitate the one that runs."""
    monkeypatch.setattr(hash_tables, "JAVA_RELEASE", assignor_witness.ask(op="release"))
    return assignor_witness
