"""One Java witness for each process of tests, the dose, and the count at the end: `pytest interop/witness --messages 1000`.

Without a JDK or Kafka's jars a single test is left, which is skipped and says what is missing.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.real_kafka import Missing

from .java import Witness, class_path, running

HERE = Path(__file__).parent
DOSE = 40
COUNTED = (
    "message-versions",
    "messages",
    "messages with unknown tags",
    "framed records",
    "batches",
    "messages of which one field is wrong",
    "damaged messages",
    "damaged batches",
)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--messages", type=int, default=DOSE, help=f"random messages of each message-version ({DOSE})")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    ours = [item for item in items if HERE in item.path.parents]
    if not ours:
        return
    try:
        class_path()
    except Missing as reason:
        ours[0].add_marker(pytest.mark.skip(reason=f"the codec witness is silent: {reason}"))
        config.hook.pytest_deselected(items=ours[1:])
        items[:] = [item for item in items if item not in ours[1:]]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    counts: Counter[str] = Counter()
    for report in terminalreporter.stats.get("passed", []):
        counts.update({key: value for key, value in report.user_properties if key in COUNTED})
    if counts:
        terminalreporter.line(", ".join(f"{counts[key]:,} {key}" for key in COUNTED if counts[key]) + " witnessed")


@pytest.fixture(scope="session")
def dose(pytestconfig: pytest.Config) -> int:
    """How many random messages of each message-version."""
    found: int = pytestconfig.getoption("messages", DOSE)
    return found


@pytest.fixture(scope="session")
def _witness() -> Iterator[Witness]:
    with running() as found:
        yield found


@pytest.fixture
def witness(_witness: Witness) -> Witness:
    _witness.forget()
    return _witness
