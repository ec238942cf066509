"""Every client logs in to a broker by each mechanism that it offers, is refused, is denied and is
throttled, as its library reports it; the same on a kafkadouble and on an Apache Kafka.

    pytest interop/walks/test_secure.py --broker double --broker local
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import NamedTuple

import pytest

from interop.secured_servers import SLOW_USERS, Secured, secured_server

from .secure import SECURE_PROGRAMS, Cell, Ended, SecureProgram, cells, faults, played
from .toolchains.building import ALL, Missing, everything

pytestmark = pytest.mark.timeout(900)  # the first run builds the programs

AT_ONCE = 2 * (os.cpu_count() or 2)


class Playing(NamedTuple):
    """The attempts of one program, and what will have come of them."""

    cells: list[Cell]
    ends: Future[list[Ended]]


class Programs:
    """The programs on one server, some at a time: they wait more than they compute. The last ones
    wait longest, so they begin first."""

    def __init__(self, server: Secured, pool: ThreadPoolExecutor) -> None:
        self._server, self._pool, self._slow_users = server, pool, iter(SLOW_USERS)
        self._begun = {each.name: self._begin(each) for each in reversed(SECURE_PROGRAMS) if _is_run(each)}

    def take(self, program: SecureProgram) -> Playing:
        """What has begun already; the next time, it begins once more."""
        return self._begun.pop(program.name, None) or self._begin(program)

    def _begin(self, program: SecureProgram) -> Playing:
        tried = list(cells(program, self._server, next(self._slow_users)))
        return Playing(tried, self._pool.submit(played, program, [each.line for each in tried]))


def _is_run(program: SecureProgram) -> bool:
    return everything() or not program.is_long


@pytest.fixture(scope="module")
def programs(node_kind: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Programs]:
    folder = tmp_path_factory.mktemp(node_kind)
    with secured_server(node_kind, folder) as server, ThreadPoolExecutor(AT_ONCE) as pool:
        yield Programs(server, pool)


@pytest.mark.parametrize("program", SECURE_PROGRAMS, ids=[each.name for each in SECURE_PROGRAMS])
def test_a_client_on_a_secured_broker(programs: Programs, program: SecureProgram) -> None:
    if not _is_run(program):
        pytest.skip(f"long: make interop-all, or {ALL}=1")
    tried, ends = programs.take(program)
    try:
        found = ends.result()
    except Missing as reason:
        pytest.skip(f"no {program.name}: {reason}")
    wrong = [fault for cell, end in zip(tried, found, strict=True) if (fault := faults(program, cell, end))]
    assert not wrong, "\n".join(wrong)
