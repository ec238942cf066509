"""Kafka's uuid: its text, its equality with plain bytes, its randomness from the caller."""

from __future__ import annotations

import copy
import pickle
import random

import pytest

from kafkadouble.messages.uuid import Uuid
from kafkadouble.wire.errors import UsageError

PLAIN = bytes.fromhex("1f728a3b835344f6825ad1269b7bd6ec")


def test_kafkas_text() -> None:
    made = Uuid(PLAIN)
    assert str(made) == "H3KKO4NTRPaCWtEmm3vW7A"
    assert repr(made) == "Uuid('H3KKO4NTRPaCWtEmm3vW7A')"
    assert Uuid.parse("H3KKO4NTRPaCWtEmm3vW7A") == made
    assert f"{made}" == str(made)


def test_a_uuid_is_its_bytes() -> None:
    assert Uuid(PLAIN) == PLAIN
    assert hash(Uuid(PLAIN)) == hash(PLAIN)
    assert {PLAIN: 1}[Uuid(PLAIN)] == 1
    assert len(Uuid(PLAIN)) == 16
    assert Uuid(bytearray(PLAIN)) == PLAIN


def test_reserved_uuids() -> None:
    assert Uuid() == Uuid.ZERO == bytes(16)
    assert str(Uuid.ZERO) == "AAAAAAAAAAAAAAAAAAAAAA"
    assert str(Uuid.METADATA_TOPIC_ID) == "AAAAAAAAAAAAAAAAAAAAAQ"


@pytest.mark.parametrize("bad", [b"", bytes(15), bytes(17), "x" * 16, [0] * 16])
def test_uuid_of_wrong_length_is_refused(bad: bytes) -> None:
    with pytest.raises(UsageError, match="a uuid has 16 bytes"):
        Uuid(bad)


@pytest.mark.parametrize(
    "bad", ["", "abc", "H3KKO4NTRPaCWtEmm3vW7", "H3KKO4NTRPaCWtEmm3vW7AAA", "!3KKO4NTRPaCWtEmm3vW7A", "ü" * 22]
)
def test_invalid_text_of_a_uuid_is_refused(bad: str) -> None:
    with pytest.raises(UsageError, match="is not a uuid"):
        Uuid.parse(bad)


def test_random_uuid_takes_bytes_of_its_caller() -> None:
    made = [Uuid.random(random.Random(5).randbytes) for _ in range(2)]
    assert made[0] == made[1]
    dice = random.Random(6)
    many = {Uuid.random(dice.randbytes) for _ in range(500)}
    assert len(many) == 500
    for one in many:
        assert not str(one).startswith("-")
        assert (one[6] >> 4, one[8] >> 6) == (4, 2)


def test_uuid_equals_its_copies() -> None:
    made = Uuid(PLAIN)
    for same in (copy.copy(made), copy.deepcopy(made), pickle.loads(pickle.dumps(made))):
        assert same == made
        assert isinstance(same, Uuid)
