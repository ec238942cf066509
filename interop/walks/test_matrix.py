"""Every client reads what each client wrote: a test is one row of the matrix, whose readers run
side by side."""

from __future__ import annotations

import pytest

from interop.brokers import Broker

from .conftest import ROW
from .matrix import row
from .programs import CORE, PROGRAMS
from .toolchains.building import Missing, Program, everything

pytestmark = pytest.mark.timeout(1200)  # the first run builds the programs

WRITERS = [program for program in PROGRAMS if "write" in program.verbs]
READERS = [program for program in PROGRAMS if "read" in program.verbs]


@pytest.mark.parametrize("writer", WRITERS, ids=[program.name for program in WRITERS])
def test_records_of_a_client_are_read_by_all_clients(
    request: pytest.FixtureRequest, broker: Broker, writer: Program
) -> None:
    if broker.name != "double" and writer.name not in CORE and not everything():
        pytest.skip("a sample of the writers writes to other brokers; `make interop-all` runs all")
    try:
        found = row(writer, READERS, broker.bootstrap)
    except Missing as reason:
        pytest.skip(f"no {writer.name}: {reason}")
    request.node.user_properties.append((ROW, {"writer": writer.name, **found._asdict()}))
    assert not found.wrong, "\n".join(f"{reader}: {wrong}" for reader, wrong in found.wrong.items())
    assert found.cells
