"""The brokers' part of the report of a test."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from traceback import format_exception, walk_tb
from types import TracebackType
from typing import TYPE_CHECKING

import pytest

from kafkadouble.common.on_first_use import OnFirstUse

from . import options

if TYPE_CHECKING:
    from kafkadouble import KafkaDouble, report
    from kafkadouble.common import plural
    from kafkadouble.host import host
    from kafkadouble.report import rules
    from kafkadouble.server.faults.armed import Armed
    from kafkadouble.verbs.cluster import reporting

    from . import double_state, known_doubles
    from .known_doubles import KnownDouble
else:  # a start waits for none of them
    known_doubles = OnFirstUse("kafkadouble.pytest_plugin.known_doubles")
    double_state = OnFirstUse("kafkadouble.pytest_plugin.double_state")
    host = OnFirstUse("kafkadouble.host.host")
    plural = OnFirstUse("kafkadouble.common.plural")
    report = OnFirstUse("kafkadouble.report")
    reporting = OnFirstUse("kafkadouble.verbs.cluster.reporting")
    rules = OnFirstUse("kafkadouble.report.rules")

FUNCTIONS = "functions of fault rules that raised"

TOLD = pytest.StashKey[bool]()
"""Whether a test was told of the rules that nothing matched."""

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
    check_functions(all_doubles(item))
    unused = [
        (rule, known.double) for known in known_doubles.known_doubles(item.config) for rule in _unused(item, known)
    ]
    if not unused:
        return
    problem = _unused_text(unused)
    item.stash[TOLD] = True
    if options.is_strict(item):
        pytest.fail(problem, pytrace=False)
    warnings.warn(problem, UnusedRuleWarning, stacklevel=1)


def _unused_text(unused: list[tuple[Armed, KafkaDouble]]) -> str:
    """The rules, and the requests that came near them."""
    unmatched = [repr(armed.rule) for armed, _ in unused if not armed.met]
    unfinished = [repr(armed) for armed, _ in unused if armed.met]
    lines = [f"  {line}" for armed, double in unused for line in rules.near(armed.rule, list(double.requests))]
    if unfinished:
        lines.insert(0, f"not at the end of {plural.counted(len(unfinished), 'dialogue')}: {'; '.join(unfinished)}")
    if unmatched:
        lines.insert(0, f"no request matched {plural.counted(len(unmatched), 'fault rule')}: {'; '.join(unmatched)}")
    return "\n".join(lines)


def all_doubles(item: pytest.Item) -> list[KafkaDouble]:
    """The doubles of a test's fixtures, and those that fixtures of the plugin started."""
    found = [*doubles(item).values(), *(known.double for known in known_doubles.known_doubles(item.config))]
    return list({id(each): each for each in found}.values())


def check_functions(of: Iterable[KafkaDouble]) -> None:
    """Raises the first exception of a function of a rule. Each is raised once."""
    errors = [error for double in of for error in _taken_errors(double)]
    if not errors:
        return
    (function, first), *others = errors
    first.add_note(f"It was raised by {function}")
    for function, other in others[:SHOWN_ERRORS]:
        first.add_note(f"Another exception of {function}: {other!r}")
    raise first


def _taken_errors(double: KafkaDouble) -> Iterator[tuple[str, BaseException]]:
    """The broker may add some meanwhile."""
    known = [
        (f"a function of the fault rule: {rule!r}", errors)
        for rule, errors in list(host.host_of(double).function_errors)
    ]
    for function, errors in [*known, ("the function of oauthbearer", double.token_errors)]:
        while errors:
            yield function, errors.pop(0)


def _unused(item: pytest.Item, known: KnownDouble) -> list[Armed]:
    """The rules of this test that nothing has matched, or of which a step is left."""
    # The run's scenario is for all tests, and each uses only some of its rules.
    scenario = host.host_of(known.double).scenario
    of_run = () if scenario is None or options.has_own_scenario(item) else scenario.all_rules
    new = [armed for armed in double_state.unmatched_rules(known.double) if armed not in known.unmatched]
    return [armed for armed in new if armed.rule not in of_run]


def sections(item: pytest.Item) -> list[tuple[str, str]]:
    """The sections about the brokers of a test that failed, one set for each double. Rules that the
    failure is about are left out."""
    return [
        (f"{PACKAGE}: {title} ({name})", "\n".join(lines))
        for name, double in named_doubles(item).items()
        for title, lines in _sections_of(double, item.stash.get(TOLD, False)).items()
    ]


def named_doubles(item: pytest.Item) -> dict[str, KafkaDouble]:
    """The doubles of a test, each once: of its fixtures, by their names, and those that it
    started."""
    found: dict[int, tuple[str, KafkaDouble]] = {}
    for name, double in doubles(item).items():
        found.setdefault(id(double), (name, double))
    for number, double in enumerate(_own_doubles(item), 1):
        found.setdefault(id(double), (f"double {number} of the test", double))
    return dict(found.values())


def _own_doubles(item: pytest.Item) -> list[KafkaDouble]:
    """The doubles that were started since the test began, also if they were stopped since."""
    module = sys.modules.get("kafkadouble.double")
    if module is None:
        return []
    return known_doubles.known_doubles(item.config).started_since(module.STARTED)


def _sections_of(double: KafkaDouble, told: bool) -> dict[str, list[str]]:
    found = report.sections(reporting.reported(host.host_of(double)))
    if told:
        found.pop(report.FAULT_RULES, None)
    if errors := list(_errors(double)):
        found[FUNCTIONS] = errors
    return found


def _errors(double: KafkaDouble) -> Iterable[str]:
    """The errors for this report; the end of the test then need not fail for them."""
    for rule, error in _taken_errors(double):
        yield f"{rule!r}:"
        yield from "".join(format_exception(error)).splitlines()


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
    errors = sys.modules.get("kafkadouble.common.errors")
    kinds = () if errors is None else (errors.KafkaError, errors.UsageError)
    return isinstance(problem, (TimeoutError, AssertionError, *kinds))
