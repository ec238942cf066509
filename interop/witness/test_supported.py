"""`kafkadouble supported` lists the APIs and versions that Apache Kafka advertises, by the classes
of its jars: for brokers, for brokers with a plugin for metrics of clients, and for controllers.

A row that does not advertise what it serves has a reason, and is compared with what it advertises.
"""

from __future__ import annotations

import json
from typing import Any

from kafkadouble.cli.parts.supported import rows, rows_of_controllers
from kafkadouble.server.apis.served import ROW_OF

from .java import Witness

Ranges = dict[str, list[int]]


def advertised(witness: Witness, node: str) -> Ranges:
    """What Apache Kafka advertises."""
    load: Ranges = json.loads(witness.answer("advertised")[0])[node]
    return load


def listed(of: list[dict[str, Any]]) -> Ranges:
    """What we advertise, and what is excused."""
    return {str(row["key"]): row["advertised"] for row in of if row["advertised"]}


def test_a_broker(witness: Witness) -> None:
    assert listed(rows()) == advertised(witness, "broker")


def test_a_broker_that_takes_metrics_of_clients(witness: Witness) -> None:
    hidden = {str(row["key"]): row["versions"] for row in rows() if ROW_OF[row["name"]].hidden}
    theirs = advertised(witness, "broker with telemetry")
    assert len(hidden) == 2
    assert {**listed(rows()), **hidden} == theirs


def test_a_controller(witness: Witness) -> None:
    theirs = advertised(witness, "controller")
    assert len(theirs) == 42
    assert listed(rows_of_controllers()) == theirs


def test_served_version_that_is_not_advertised_has_a_reason() -> None:
    for row in (*rows(), *rows_of_controllers()):
        assert row["versions"] == row["advertised"] or row["reason"], row
