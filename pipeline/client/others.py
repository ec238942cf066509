"""Handles Kafka's settings that have no effect here: refuses them, or logs a warning.

Rules. A row of `other_rows` decides. A warning is logged once per process, for any number of
clients: Spark makes one in the driver and one in each worker.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, cast

from kafkadouble.wire.client_log import ClientLog
from kafkadouble.wire.errors import UsageError

from .other_rows import OTHERS

log = ClientLog("kafkadouble.pipeline.client")

Role = Literal["consumer", "producer", "client"]


class Other(NamedTuple):
    """One row. `same` are the values that change nothing, in lower case."""

    name: str
    role: Role
    refused: bool
    same: tuple[str, ...]
    why: str


def _rows() -> dict[str, Other]:
    lines = OTHERS.strip().splitlines()
    others = {}
    for head, why in zip(lines[::2], lines[1::2], strict=True):
        name, role, fate, same = head.split()
        values = () if same == "-" else tuple("" if word == "empty" else word.lower() for word in same.split(","))
        others[name] = Other(name, cast(Role, role), {"refused": True, "no-effect": False}[fate], values, why.strip())
    return others


BY_NAME = _rows()
_logged: set[str] = set()


def judge(name: str, value: str) -> None:
    """UsageError for a setting that is refused; a warning for one that has no effect."""
    row = BY_NAME[name]
    if value.strip().lower() in row.same:
        return
    if row.refused:
        raise UsageError(f"the setting {name} is not supported: {row.why}")
    warn_once(f"the setting {name} has no effect: {row.why}")


def warn_once(text: str) -> None:
    """Logs a warning, unless this process logged it before."""
    if text not in _logged:
        _logged.add(text)
        log.warning("%s", text)
