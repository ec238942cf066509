"""The registry of verbs: everything that a program can do with a KafkaDouble, as a table.

    VERBS["truncate"].call(kafka, topic="orders", partition=0, offset=3)

A verb is a function of the host of a double, or a method of one of its brokers or of its requests,
that `@verb` (`common/marking.py`) marks. `python -m codegen` makes the methods of KafkaDouble from
the functions. The table is computed when it is first read, because a test that starts a double
should not wait for it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .verb import Verb


class VerbTable(Mapping[str, "Verb"]):
    """Every verb by its name. It is computed when it is first read."""

    def __init__(self) -> None:
        self._verbs: dict[str, Verb] | None = None

    def _all(self) -> dict[str, Verb]:
        if self._verbs is None:
            from .collecting import collected  # the table is made on first use

            self._verbs = collected()
        return self._verbs

    def __getitem__(self, name: str) -> Verb:
        """Raises UsageError for a name that no verb has, with the nearest one."""
        verbs = self._all()
        if name not in verbs:
            from kafkadouble.common.errors import UsageError  # for an error alone
            from kafkadouble.server.configs.did_you_mean import near  # for an error alone

            raise UsageError(f"there is no verb {name!r}{near(name, verbs)}")
        return verbs[name]

    def __contains__(self, name: object) -> bool:
        return name in self._all()

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())


VERBS: Mapping[str, Verb] = VerbTable()
"""Every verb by its name, in the order of the alphabet. An unknown name raises UsageError."""
