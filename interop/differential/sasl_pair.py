"""Two brokers with the same listeners of SASL, to compare."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from tests.support.sasl_talk import Address


class Pair(NamedTuple):
    """The addresses of both, by the name of the listener."""

    double: Mapping[str, Address]
    kafka: Mapping[str, Address]
