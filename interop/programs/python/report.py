"""The object that a program tells, as it comes about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import version

from interop.walks.promise import CODECS, OF_VERB, PASS, TOTAL, ProgramResult, print_of


class Failed(Exception):
    """A behaviour went wrong, and the walk ends there; the cause says how."""


class Report:
    """What was seen so far, and how each behaviour of the verb went."""

    def __init__(self, client: str, verb: str) -> None:
        self._client, self.verb = client, verb
        self.behaviours = dict.fromkeys(sorted(OF_VERB[verb]), "fail: not reached")
        self.committed = 0
        self.forget()

    def forget(self) -> None:
        """Begins to count from 0."""
        self.seen, self._digest = dict.fromkeys(CODECS, 0), 0

    @contextmanager
    def step(self, name: str) -> Iterator[None]:
        """A behaviour; the verb need not tell of it."""
        outcome = PASS
        try:
            yield
        except Exception as reason:
            outcome = f"fail: {reason!r:.300}"
            raise Failed(name) from reason
        finally:
            if name in self.behaviours:
                self.behaviours[name] = outcome

    def left_out(self, name: str, how: str) -> None:
        """`how` is NOT_OFFERED or NOT_TRIED."""
        self.behaviours[name] = how

    def add(self, codec: str, key: bytes | None, value: bytes) -> None:
        self.seen[codec] += 1
        self._digest = (self._digest + print_of(codec.encode(), key, value)) & 0xFFFFFFFF

    @property
    def complete(self) -> bool:
        return sum(self.seen.values()) >= TOTAL

    def result(self) -> ProgramResult:
        return ProgramResult(
            self._client,
            version(self._client),
            self.verb,
            self.behaviours,
            self.seen,
            self._digest,
            self.committed,
        )
