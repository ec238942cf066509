"""One Java witness for each process of tests, and the number of messages: `pytest interop/witness
--messages 1000`.

Without a JDK or Kafka's jars only one test is left, which is skipped with the name of what is
missing.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from interop.real_kafka import Missing

from .java import Witness, class_path, running

HERE = Path(__file__).parent


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


@pytest.fixture(scope="session")
def dose(pytestconfig: pytest.Config) -> int:
    """The number of random messages of each message-version."""
    found: int = pytestconfig.getoption("messages")
    return found


@pytest.fixture(scope="session")
def _witness() -> Iterator[Witness]:
    with running() as found:
        yield found


@pytest.fixture
def witness(_witness: Witness) -> Witness:
    _witness.forget()
    return _witness
