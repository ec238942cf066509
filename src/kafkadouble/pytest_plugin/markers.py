"""A marker of a test that nothing reads is a mistake: the test would pass with other settings. A
test that uses what only a double has is skipped on a real Kafka.

Rules. The marker of a function must find that the fixture `kafka_double` was set up when the test
has ended, also by another fixture or by the test itself. The marker of a class or a module may be
for some of its tests: it is a warning where a test uses `kafka_double_session` in place of it.
`strict_rules` is for the doubles of every fixture.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import pytest

from .options import MARKER

READ = pytest.StashKey[bool]()
"""Whether the fixture has read the markers of a test."""

SHARED = "kafka_double_session"


class UnusedMarkerWarning(pytest.PytestWarning):
    """The marker of a class or a module that a test does not use."""


def was_read(node: Any) -> None:
    """The fixture is set up for this test."""
    node.stash[READ] = True


def check(item: pytest.Item) -> None:
    """Fails a test whose own marker nothing read, and warns of one of its class or module."""
    if problem := _unread(item):
        pytest.fail(problem, pytrace=False)
    is_shared = SHARED in getattr(item, "fixturenames", ()) and not _was_read(item)
    if is_shared and (others := _arguments(item.iter_markers())):
        problem = f"{item.name} uses {SHARED}, for which the marker {MARKER}({', '.join(others)}) has no effect"
        warnings.warn(problem, UnusedMarkerWarning, stacklevel=1)


def explain(item: pytest.Item, failure: BaseException) -> None:
    """The same for a test that has failed, perhaps for this reason."""
    if problem := _unread(item):
        failure.add_note(problem)


def _was_read(item: pytest.Item) -> bool:
    return item.stash.get(READ, False)


def _unread(item: pytest.Item) -> str:
    """The problem with the marker of a test that has ended; empty if there is none."""
    given = [] if _was_read(item) else _arguments(item.own_markers)
    if not given:
        return ""
    return (
        f"the marker {MARKER}({', '.join(given)}) has no effect: {item.name} does not use the fixture {MARKER}; "
        "kafka_double_factory takes the same arguments"
    )


def _arguments(markers: Any) -> list[str]:
    """The arguments of these markers for the fixture."""
    found = {name for mark in markers if mark.name == MARKER for name in mark.kwargs}
    return sorted(found - {"strict_rules"})


def as_skip(excinfo: pytest.ExceptionInfo[BaseException]) -> pytest.ExceptionInfo[BaseException]:
    """The skip of a test that used what only a double has, at the line that used it."""
    served = sys.modules.get("kafkadouble.external.remote.served")
    if served is None or not isinstance(excinfo.value, served.OnlyOnDouble):
        return excinfo
    skipped = pytest.skip.Exception(str(excinfo.value))
    return pytest.ExceptionInfo.from_exc_info((type(skipped), skipped, excinfo.tb))
