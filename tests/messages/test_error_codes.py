"""Kafka's error codes as data."""

from __future__ import annotations

import re

from kafkadouble.messages import error_codes


def test_codes_are_plain_numbers() -> None:
    assert error_codes.NOT_LEADER_OR_FOLLOWER == 6
    assert type(error_codes.NONE) is int
    assert error_codes.UNKNOWN_SERVER_ERROR == -1


def test_codes_are_complete_and_unique() -> None:
    assert sorted(error_codes.NAMES) == list(range(-1, 137))
    assert len(set(error_codes.NAMES.values())) == 138
    assert error_codes.NAMES.keys() == error_codes.MEANINGS.keys()
    assert all(re.fullmatch("[A-Z_]+", name) for name in error_codes.NAMES.values())


def test_error_codes_have_names_and_meanings() -> None:
    assert error_codes.name(0) == "NONE"
    assert error_codes.name(136) == "CONTROLLER_ID_NOT_REGISTERED"
    assert error_codes.meaning(6) == "This broker does not lead the partition, or holds no replica of it."
    assert all(meaning.endswith(".") and len(meaning) < 110 for meaning in error_codes.MEANINGS.values())


def test_error_codes_say_if_they_are_retriable() -> None:
    assert error_codes.is_retriable(error_codes.NOT_LEADER_OR_FOLLOWER)
    assert not error_codes.is_retriable(error_codes.TOPIC_AUTHORIZATION_FAILED)
    assert error_codes.NOT_LEADER_OR_FOLLOWER in error_codes.REFRESH
    assert error_codes.REFRESH <= error_codes.RETRIABLE


def test_codes_of_the_future_are_survived() -> None:
    assert error_codes.name(999) == "UNKNOWN_CODE_999"
    assert not error_codes.is_known(999)
    assert not error_codes.is_retriable(999)
    assert "does not have" in error_codes.meaning(999)
