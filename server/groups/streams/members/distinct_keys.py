"""Builds maps from lists of a request in which no key may appear twice.

Apache Kafka fails on a repeated subtopology, topic, configuration or tag where it builds a map of
them, and answers UNKNOWN_SERVER_ERROR without a message.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from kafkadouble.messages import error_codes

from ....requests.request import Refusal

V = TypeVar("V")


def with_distinct_keys(entries: Iterable[tuple[str, V]]) -> dict[str, V]:
    """Returns a map of the entries. Raises Refusal(UNKNOWN_SERVER_ERROR) if a key repeats."""
    found: dict[str, V] = {}
    for key, value in entries:
        if key in found:
            raise Refusal(error_codes.UNKNOWN_SERVER_ERROR)
        found[key] = value
    return found
