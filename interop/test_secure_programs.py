"""The table of clients that log in: its attempts, and what counts as a fault."""

from __future__ import annotations

import pytest

from interop.secured_servers import OAUTHBEARER, PASSWORDS, SLOW_USERS, Secured
from interop.walks.secure import SECURE_PROGRAMS, Cell, Ended, cells, faults
from kafkadouble.access.certificates import Certificates

FIELDS = 10


@pytest.fixture(scope="module")
def lines() -> dict[str, list[Cell]]:
    certificates = Certificates("valid", ["localhost"])
    server = Secured("double", dict.fromkeys(("SASL", "SECURE", "MUTUAL"), "127.0.0.1:1"), certificates)
    found = {each.name: list(cells(each, server, "slow-0")) for each in SECURE_PROGRAMS}
    certificates.close()
    return found


def test_clients_have_users_with_quotas_of_their_own() -> None:
    """Two of them, since a program may be run once more."""
    assert 2 * len(SECURE_PROGRAMS) <= len(SLOW_USERS)


def test_attempts_of_clients_have_all_fields(lines: dict[str, list[Cell]]) -> None:
    assert {line.line.count("\t") + 1 for each in lines.values() for line in each} == {FIELDS}


def test_a_client_of_everything_is_tried_with_everything(lines: dict[str, list[Cell]]) -> None:
    names = [each.name for each in lines["sarama"]]
    mechanisms = (*PASSWORDS, OAUTHBEARER)
    assert names == [
        *(f"{mechanism} {protocol}" for protocol in ("SASL_PLAINTEXT", "SASL_SSL") for mechanism in mechanisms),
        "certificate SSL",
        *(f"wrong {mechanism}" for mechanism in mechanisms),
        "denied",
        "throttled",
    ]


def test_attempts_that_a_client_does_not_support_are_left_out(lines: dict[str, list[Cell]]) -> None:
    assert "wrong OAUTHBEARER" not in {each.name for each in lines["aiokafka"]}
    assert not any("SSL" in each.name for each in lines["kafka-clients 2.1.1"])


@pytest.mark.parametrize(
    ("end", "fault"),
    [
        (Ended("", 2.0, 900, ""), ""),
        (Ended("E", 2.0, 900, "why"), "sarama, slow: 'E' (why), not ''"),
        (Ended("", 0.1, 900, ""), "sarama, slow: 13 records of 50000 bytes took 0.1 s"),
        (Ended("", 2.0, 0, ""), "sarama, slow: throttled for 0 ms by its own report"),
    ],
)
def test_faults(end: Ended, fault: str) -> None:
    sarama = next(each for each in SECURE_PROGRAMS if each.name == "sarama")
    assert faults(sarama, Cell("slow", "", "", is_slow=True), end) == fault
