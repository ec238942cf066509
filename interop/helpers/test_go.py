"""The Go library: its own tests, and those of a service with franz-go."""

from __future__ import annotations

import pytest

from .building import LIBRARIES, fetched, passes, tool

FOLDER = LIBRARIES / "go"
SHOP = FOLDER / "examples" / "shop"

pytestmark = pytest.mark.timeout(1200)


def test_the_library_passes_its_tests() -> None:
    go = tool("go")
    passes([go, "vet", "./..."], FOLDER)
    output = passes([go, "test", "-count=1", "-v", "./..."], FOLDER)
    assert "--- PASS: TestAFailedTestShowsTheLastRequests" in output
    assert "--- PASS: TestWhatVerbsReturnIsGivenBack" in output


def test_a_service_with_franz_go_survives_a_killed_leader() -> None:
    go = tool("go")
    fetched([go, "mod", "download"], SHOP)
    output = passes([go, "test", "-count=1", "-v", "./..."], SHOP)
    assert "--- PASS: TestSurvivesAKilledLeader" in output
    assert "--- PASS: TestAUserMayDoWhatAnACLAllows" in output


def test_go_library_is_formatted() -> None:
    assert passes([tool("gofmt"), "-l", "."], FOLDER) == ""
