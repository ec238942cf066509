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

from interop.local import jars
from interop.secured_servers import KINDS, SLOW_USERS, Secured, secured_server
from interop.support import local_kafka

from .secure import SECURE_PROGRAMS, Cell, Ended, SecureProgram, cells, faults, played
from .toolchains.building import ALL, Missing, everything

pytestmark = pytest.mark.timeout(900)  # the first run builds the programs

AT_ONCE = 2 * (os.cpu_count() or 2)


class Playing(NamedTuple):
    """The attempts of one program, and what will have come of them."""

    cells: list[Cell]
    ends: Future[list[Ended]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    words = [word for word in metafunc.config.getoption("broker") or ["double"] if word in KINDS]
    metafunc.parametrize("playing", words, indirect=True, scope="module")


@pytest.fixture(scope="module")
def playing(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Playing]]:
    """All programs, some at a time: they wait more than they compute."""
    if request.param == "local":
        with local_kafka(request):
            jars()
    with (
        secured_server(request.param, tmp_path_factory.mktemp(request.param)) as server,
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        chosen = [each for each in SECURE_PROGRAMS if everything() or not each.is_long]
        # The last ones wait longest, so they begin first.
        yield {each.name: _begun(each, server, pool) for each in reversed(chosen)}


def _begun(program: SecureProgram, server: Secured, pool: ThreadPoolExecutor) -> Playing:
    tried = list(cells(program, server, SLOW_USERS[SECURE_PROGRAMS.index(program)]))
    return Playing(tried, pool.submit(played, program, [each.line for each in tried]))


@pytest.mark.parametrize("program", SECURE_PROGRAMS, ids=[each.name for each in SECURE_PROGRAMS])
def test_a_client_on_a_secured_broker(playing: dict[str, Playing], program: SecureProgram) -> None:
    if program.name not in playing:
        pytest.skip(f"long: make interop-all, or {ALL}=1")
    tried, ends = playing[program.name]
    try:
        found = ends.result()
    except Missing as reason:
        pytest.skip(f"no {program.name}: {reason}")
    wrong = [fault for cell, end in zip(tried, found, strict=True) if (fault := faults(program, cell, end))]
    assert not wrong, "\n".join(wrong)
