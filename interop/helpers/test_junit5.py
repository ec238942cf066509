"""The JUnit 5 library: its own tests, and those of a service with Kafka's client."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path
from zipfile import ZipFile

import pytest

from .building import copied, fetched, passes, tool

FAIL_OVER = "io.github.kafkadouble.ShopTests", "survivesAKilledLeader"

SECURED = "io.github.kafkadouble.SecurityTests", "aUserMayDoWhatAnAclAllows"

SCENARIO = "io.github.kafkadouble.ScenarioTests", "eachTestBeginsWithTheScenario"

CERTIFICATE = "io.github.kafkadouble.CertificateTests", "aClientRefusesAnExpiredCertificate"

GIVEN_BACK = "io.github.kafkadouble.RoundTripTests", "whatVerbsReturnIsGivenBack"

pytestmark = pytest.mark.timeout(1200)


@pytest.fixture(scope="module")
def maven() -> tuple[str, str, str]:
    tool("java")
    return tool("mvn"), "--batch-mode", "--quiet"


@pytest.fixture(scope="module")
def folder(maven: tuple[str, ...]) -> Path:
    made = copied("junit5")
    if not (made / "fetched").exists():
        fetched([*maven, "dependency:go-offline"], made)
        (made / "fetched").touch()
    return made


def reported(folder: Path) -> set[tuple[str | None, str]]:
    """Class and name of each test that ran in a project."""
    reports = [ET.parse(path).getroot() for path in (folder / "target" / "surefire-reports").glob("TEST-*.xml")]
    return {(each.get("classname"), (each.get("name") or "").partition("(")[0]) for one in reports for each in one}


def test_the_library_passes_its_tests(maven: tuple[str, ...], folder: Path) -> None:
    passes([*maven, "test"], folder)
    passed = reported(folder)
    assert {FAIL_OVER, SECURED, GIVEN_BACK, SCENARIO, CERTIFICATE} <= passed
    assert len([each for each in passed if each[0]]) >= 14


def test_applications_of_spring_and_quarkus_find_the_double(maven: tuple[str, ...], folder: Path) -> None:
    """The library is built beside them, so that it need not be installed."""
    chosen = "-Dtest=*InvoicesTest,*OrdersTest", "-Dsurefire.failIfNoSpecifiedTests=false"
    try:
        passes([*maven, "-T", "2", *chosen, "test"], folder / "examples")
    except AssertionError as problem:
        if re.search(r"Could not (resolve|transfer|find)|Non-resolvable|Unresolveable", str(problem)):
            pytest.skip(f"Maven cannot fetch Spring or Quarkus: {problem}")
        raise
    assert reported(folder / "examples" / "spring-boot") >= {
        ("shop.InvoicesTest", "anInvoiceIsWritten"),
        ("shop.SecuredInvoicesTest", "theApplicationIsTheUser"),
    }
    assert reported(folder / "examples" / "quarkus") >= {
        ("shop.OrdersTest", "anOrderIsSent"),
        ("shop.SecuredOrdersTest", "theApplicationIsTheUser"),
    }


def test_the_jars_for_maven_central_are_made(maven: tuple[str, ...], folder: Path) -> None:
    """Besides the classes it needs their sources, and their documentation, without warnings."""
    passes([*maven, "-DskipTests", "package"], folder)
    name = "io/github/kafkadouble/KafkaDouble"
    for kind, held in (("", f"{name}.class"), ("-sources", f"{name}.java"), ("-javadoc", f"{name}.html")):
        (jar,) = (folder / "target").glob(f"kafkadouble-junit5-*[0-9]{kind}.jar")
        assert held in ZipFile(jar).namelist()
