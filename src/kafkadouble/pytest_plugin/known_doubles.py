"""The doubles that the fixtures started, and what each was when the test began. It imports no
server: most tests of a run may have no double."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from typing import TYPE_CHECKING, NamedTuple

import pytest

from kafkadouble.common.on_first_use import OnFirstUse

if TYPE_CHECKING:
    from kafkadouble import KafkaDouble
    from kafkadouble.server.faults.armed import Armed

    from . import double_state
    from .double_state import DoubleState
else:  # a start waits for none of them
    double_state = OnFirstUse("kafkadouble.pytest_plugin.double_state")


class KnownDouble(NamedTuple):
    """A double, and its state before the test; None if it did not run then. `is_older`: the test
    did not start it, so that it runs again after a test that stopped it. `unmatched` are the rules
    of earlier tests and of fixtures of a wider scope that nothing has matched."""

    double: KafkaDouble
    before: DoubleState | None
    is_older: bool = False
    unmatched: frozenset[Armed] = frozenset()


class KnownDoubles:
    """The doubles of one run, or of one worker of pytest-xdist."""

    def __init__(self) -> None:
        self._known: dict[int, KnownDouble] = {}
        self._before: set[int] = set()  # the doubles that were there when the test began

    def __iter__(self) -> Iterator[KnownDouble]:
        return iter(list(self._known.values()))

    def add(self, double: KafkaDouble) -> None:
        """A double that was started now."""
        self._known[id(double)] = _look(double)

    def drop(self, double: KafkaDouble) -> None:
        """A double that the test was given for itself, and that has ended."""
        self._known.pop(id(double), None)

    def started_since(self, started: Iterable[KafkaDouble]) -> list[KafkaDouble]:
        """The doubles of `started` that were not there when the test began."""
        return [double for double in list(started) if id(double) not in self._before]

    def begin_test(self) -> None:
        """Begins a test. The work of fixtures of a wider scope is for all their tests: it stays,
        and no rule of theirs is a mistake of this test."""
        self._known = {key: _look_again(each.double) for key, each in self._known.items()}
        module = sys.modules.get("kafkadouble.double")
        self._before = set() if module is None else set(map(id, module.STARTED))

    def end_test(self) -> None:
        """Brings back what the test has changed. A double that its own fixture has stopped stays
        stopped. One that cannot be as before does not keep the others from it."""
        with ExitStack() as all_of_them:
            for each in self:
                if each.before is not None:
                    all_of_them.callback(_restore, each.double, each.before, each.is_older)


DOUBLES = pytest.StashKey[KnownDoubles]()


def known_doubles(config: pytest.Config) -> KnownDoubles:
    """The doubles of this run."""
    return config.stash.setdefault(DOUBLES, KnownDoubles())


def _look(double: KafkaDouble) -> KnownDouble:
    return KnownDouble(double, double_state.state_of(double) if double_state.is_running(double) else None)


def _look_again(double: KafkaDouble) -> KnownDouble:
    return _look(double)._replace(is_older=True, unmatched=frozenset(double_state.unmatched_rules(double)))


def _restore(double: KafkaDouble, before: DoubleState, is_older: bool) -> None:
    if is_older:
        double.start()
    if double_state.is_running(double):
        double_state.restore(double, before)
