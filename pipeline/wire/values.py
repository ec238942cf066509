"""Parses the texts of options. Each function takes the text and returns the value, or raises
ValueError; the caller adds the name of the option.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from typing import Any

from ..client import TopicPartition

_UNITS = {"us": 0.001, "ms": 1, "s": 1000, "m": 60_000, "min": 60_000, "h": 3_600_000, "d": 86_400_000}


def text(given: str) -> str:
    if not given.strip():
        raise ValueError("is empty")
    return given.strip()


def boolean(given: str) -> bool:
    if (word := given.strip().lower()) not in ("true", "false"):
        raise ValueError("is neither true nor false")
    return word == "true"


def whole(given: str) -> int:
    try:
        return int(given)
    except ValueError:
        raise ValueError("is not a whole number") from None


def positive(given: str) -> int:
    if (number := whole(given)) <= 0:
        raise ValueError("must be positive")
    return number


def not_negative(given: str) -> int:
    if (number := whole(given)) < 0:
        raise ValueError("must not be negative")
    return number


def duration(given: str) -> int:
    """Milliseconds, from a number with a unit in Spark's spelling (`15m`), or without a unit."""
    found = re.fullmatch(r"\s*(\d+)\s*([a-z]*)\s*", given.lower())
    if found is None or (found[2] or "ms") not in _UNITS:
        raise ValueError("is no duration such as 500ms, 30s, 15m or 1h")
    return int(int(found[1]) * _UNITS[found[2] or "ms"])


def one_of(*words: str) -> Callable[[str], str]:
    def parse(given: str) -> str:
        if (word := given.strip().lower()) not in words:
            raise ValueError(f"is none of {', '.join(words)}")
        return word

    return parse


def topics(given: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in given.split(",") if name.strip()))
    if not names:
        raise ValueError("names no topic")
    return names


def assignment(given: str) -> tuple[TopicPartition, ...]:
    """The partitions of {"t":[0,1]}."""
    problem = 'is not of the form {"topicA":[0,1],"topicB":[0,1]}'
    json = _json(given, problem)
    try:
        pairs = [TopicPartition(topic, _number(part)) for topic, parts in json.items() for part in list(parts)]
    except TypeError:
        raise ValueError(problem) from None
    if not pairs:
        raise ValueError("names no partition")
    return tuple(dict.fromkeys(pairs))


def per_partition(example: str) -> Callable[[str], dict[TopicPartition, int]]:
    """The numbers of {"t":{"0":23}}."""

    def parse(given: str) -> dict[TopicPartition, int]:
        problem = f"is not of the form {example}"
        try:
            return flat(_json(given, problem))
        except (TypeError, ValueError):
            raise ValueError(problem) from None

    return parse


def flat(nested: dict[str, dict[str, int]]) -> dict[TopicPartition, int]:
    """{"t":{"0":23}} as one mapping. Raises TypeError or ValueError for another form."""
    try:
        rows = [(topic, part, number) for topic, parts in nested.items() for part, number in parts.items()]
    except AttributeError:
        raise TypeError(nested) from None
    return {TopicPartition(topic, int(part)): _number(number) for topic, part, number in rows}


def _json(given: str, problem: str) -> dict[str, Any]:
    try:
        found = json.loads(given)
    except ValueError:
        raise ValueError(problem) from None
    if not isinstance(found, dict):
        raise ValueError(problem)
    return found


def _number(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(value)
    return value
