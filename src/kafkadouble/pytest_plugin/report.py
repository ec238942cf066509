"""What the report of a test says about its brokers."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterable, Iterator
from traceback import format_exception, walk_tb
from types import TracebackType
from typing import TYPE_CHECKING

import pytest

from . import options

if TYPE_CHECKING:
    from kafkadouble import KafkaDouble
    from kafkadouble.server.faults.rule import Rule

    from .known_doubles import KnownDouble

LAST_REQUESTS = 15
"""So many requests a report shows."""

SHOWN_ERRORS = 3
"""So many exceptions of functions an error names besides the first."""

PACKAGE = "kafkadouble"
INSIDE = (PACKAGE, "concurrent", "threading", "asyncio")
"""The packages whose frames explain nothing once a call has entered this one."""


class UnusedRuleWarning(pytest.PytestWarning):
    """A fault rule of a test matched no request."""


def doubles(item: pytest.Item) -> dict[str, KafkaDouble]:
    """The doubles that the fixtures of a test gave it, by the name of the fixture."""
    module = sys.modules.get("kafkadouble.double")
    if module is None:
        return {}
    return {name: each for name, each in getattr(item, "funcargs", {}).items() if isinstance(each, module.KafkaDouble)}


def check(item: pytest.Item) -> None:
    """Fails a test if a function of one of its fault rules raised, or if it is strict and one of
    its rules matched no request; warns of such a rule otherwise."""
    from .known_doubles import known_doubles

    check_functions(all_doubles(item))
    unused = [repr(rule) for known in known_doubles(item.config) for rule in _unused(item, known)]
    if not unused:
        return
    problem = f"no request matched {len(unused)} fault rule(s): {'; '.join(unused)}"
    if options.is_strict(item):
        pytest.fail(problem, pytrace=False)
    warnings.warn(problem, UnusedRuleWarning, stacklevel=1)


def all_doubles(item: pytest.Item) -> list[KafkaDouble]:
    """Those of its fixtures, and those that fixtures of the plugin started."""
    from .known_doubles import known_doubles

    found = [*doubles(item).values(), *(known.double for known in known_doubles(item.config))]
    return list({id(each): each for each in found}.values())


def check_functions(of: Iterable[KafkaDouble]) -> None:
    """Raises the first exception of a function of a rule. Each is raised once."""
    errors = [error for double in of for error in _taken_errors(double)]
    if not errors:
        return
    (rule, first), *others = errors
    first.add_note(f"It was raised by a function of the fault rule: {rule!r}")
    for rule, other in others[:SHOWN_ERRORS]:
        first.add_note(f"A function of {rule!r} raised, too: {other!r}")
    raise first


def _taken_errors(double: KafkaDouble) -> Iterator[tuple[Rule, BaseException]]:
    """The broker may add some meanwhile."""
    for rule, errors in list(double._function_errors):
        while errors:
            yield rule, errors.pop(0)


def _unused(item: pytest.Item, known: KnownDouble) -> list[Rule]:
    """The rules of this test that nothing has matched."""
    from .double_state import unmatched_rules

    of_run = _rules_of_run(item, known.double)
    new = [armed.rule for armed in unmatched_rules(known.double) if armed not in known.unmatched]
    return [rule for rule in new if rule not in of_run]


def _rules_of_run(item: pytest.Item, double: KafkaDouble) -> tuple[object, ...]:
    """The rules of the run's scenario: it is for all tests, and each uses only some of them."""
    scenario = double._scenario
    return () if scenario is None or options.has_own_scenario(item) else scenario.all_rules


def sections(item: pytest.Item) -> list[tuple[str, str]]:
    """The sections about the brokers of a test that failed, one set for each double."""
    names = {id(double): name for name, double in doubles(item).items()}
    return [
        (f"{PACKAGE}: {title} ({name})", "\n".join(lines))
        for name, double in doubles(item).items()
        if names[id(double)] == name
        for title, show in SECTIONS.items()
        if (lines := list(_shown(show, double)))
    ]


def _shown(show: Callable[[KafkaDouble], Iterable[str]], double: KafkaDouble) -> list[str]:
    """The lines of a section. A double that was stopped or is broken must not hide the failure of
    the test."""
    try:
        return list(show(double))
    except Exception as problem:
        return [f"cannot be shown: {problem}"]


def _requests(double: KafkaDouble) -> Iterable[str]:
    seen = list(double.requests)
    if len(seen) > LAST_REQUESTS:
        yield f"({len(seen) - LAST_REQUESTS} earlier ones)"
    yield from map(repr, seen[-LAST_REQUESTS:])


def _rules(double: KafkaDouble) -> Iterable[str]:
    yield from map(repr, double.rules)
    yield from (f"matched no request: {rule!r}" for rule in double.unused_rules)


def _errors(double: KafkaDouble) -> Iterable[str]:
    """They are in this report, and so need not fail the end of the test."""
    for rule, error in _taken_errors(double):
        yield f"{rule!r}:"
        yield from "".join(format_exception(error)).splitlines()


def _groups(double: KafkaDouble) -> Iterable[str]:
    for group in double.groups().values():
        offsets = ", ".join(f"{topic}-{index}@{each.offset}" for (topic, index), each in sorted(group.offsets.items()))
        yield f"{group.id}: {group.state}, {len(group.members)} members, committed: {offsets or 'nothing'}"


SECTIONS: dict[str, Callable[[KafkaDouble], Iterable[str]]] = {
    "the last requests": _requests,
    "fault rules": _rules,
    "functions of fault rules that raised": _errors,
    "groups": _groups,
}


def without_library_frames(
    config: pytest.Config, excinfo: pytest.ExceptionInfo[BaseException]
) -> pytest.ExceptionInfo[BaseException]:
    """The same error of our API, with a traceback that ends at the line that made the call. A
    defect of the server, or --full-trace, shows every frame."""
    if config.getoption("fulltrace") or not _is_expected(excinfo.value):
        return excinfo
    frames = list(walk_tb(excinfo.tb))
    names = [str(frame.f_globals.get("__name__", "")) for frame, _ in frames]
    entry = next((at for at, name in enumerate(names) if _is_api(name)), 0)
    # A function of the test that was called from inside stays visible.
    if not entry or not all(name.partition(".")[0] in INSIDE for name in names[entry:]):
        return excinfo
    return pytest.ExceptionInfo.from_exc_info((excinfo.type, excinfo.value, _cut(excinfo.tb, entry)))


def _cut(traceback: TracebackType, length: int) -> TracebackType:
    """The first entries of a traceback."""
    following = None if length == 1 or traceback.tb_next is None else _cut(traceback.tb_next, length - 1)
    return TracebackType(following, traceback.tb_frame, traceback.tb_lasti, traceback.tb_lineno)


def _is_api(name: str) -> bool:
    return name.startswith(f"{PACKAGE}.") and not name.startswith(f"{PACKAGE}.pytest_plugin")


def _is_expected(problem: BaseException) -> bool:
    errors = sys.modules.get("kafkadouble.errors")
    kinds = () if errors is None else (errors.KafkaError, errors.UsageError)
    return isinstance(problem, (TimeoutError, AssertionError, *kinds))
