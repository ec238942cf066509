"""The JUnit 5 library: its own tests, and those of a service with Kafka's client."""

from __future__ import annotations

import xml.etree.ElementTree as ET

import pytest

from .building import copied, fetched, passes, tool

FAIL_OVER = "io.github.kafkadouble.ShopTests", "survivesAKilledLeader"

pytestmark = pytest.mark.timeout(1200)


def test_the_library_passes_its_tests() -> None:
    tool("java")
    maven, folder = tool("mvn"), copied("junit5")
    if not (folder / "fetched").exists():
        fetched([maven, "--batch-mode", "--quiet", "dependency:go-offline"], folder)
        (folder / "fetched").touch()
    passes([maven, "--batch-mode", "--quiet", "test"], folder)
    reports = [ET.parse(path).getroot() for path in (folder / "target" / "surefire-reports").glob("TEST-*.xml")]
    passed = {(each.get("classname"), (each.get("name") or "").partition("(")[0]) for one in reports for each in one}
    assert FAIL_OVER in passed
    assert len([each for each in passed if each[0]]) >= 13
