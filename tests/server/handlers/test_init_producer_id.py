"""InitProducerId: for idempotent producers at every version, and for transactional ones."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from tests.server.harness import Harness, versions


def ask(cluster: Harness, version: int = 4, **fields: Any) -> tuple[int, int, int]:
    given = {"transactional_id": None, "transaction_timeout_ms": 60_000} | fields
    response = cluster.submit(InitProducerIdRequest(**given), version)
    return response.error_code, response.producer_id, response.producer_epoch


def test_every_producer_gets_another_id() -> None:
    cluster = Harness()
    assert [ask(cluster, version) for version in versions("InitProducerId")] == [
        (0, number, 0) for number in range(len(versions("InitProducerId")))
    ]


def test_the_version_that_kafka_holds_back_is_not_served() -> None:
    assert list(versions("InitProducerId")) == [0, 1, 2, 3, 4, 5]


def test_ids_go_on_from_block_to_block() -> None:
    cluster = Harness()
    assert [ask(cluster)[1] for _ in range(1005)] == list(range(1005))


@pytest.mark.parametrize("timeout", [-1, 0, 10**9])
def test_the_time_of_transactions_is_not_looked_at(timeout: int) -> None:
    assert ask(Harness(), transaction_timeout_ms=timeout) == (0, 0, 0)


@pytest.mark.parametrize("version", [3, 4, 5])
def test_a_producer_that_had_an_id_gets_a_new_one(version: int) -> None:
    assert ask(Harness(), version, producer_id=5, producer_epoch=1) == (0, 0, 0)


REFUSED: list[tuple[dict[str, Any], int]] = [
    ({"producer_id": 5}, error_codes.INVALID_REQUEST),
    ({"producer_epoch": 3}, error_codes.INVALID_REQUEST),
    ({"transactional_id": ""}, error_codes.INVALID_REQUEST),
    ({"transactional_id": "t"}, error_codes.NOT_COORDINATOR),
    ({"transactional_id": "t", "transaction_timeout_ms": 0}, error_codes.INVALID_TRANSACTION_TIMEOUT),
    ({"transactional_id": "t", "transaction_timeout_ms": 900_001}, error_codes.INVALID_TRANSACTION_TIMEOUT),
    ({"transactional_id": "t", "producer_id": 5}, error_codes.INVALID_REQUEST),
]


@pytest.mark.parametrize(("fields", "code"), REFUSED)
def test_invalid_init_producer_id_is_refused(fields: dict[str, Any], code: int) -> None:
    cluster = Harness()
    end = cluster.image.end
    assert ask(cluster, **fields) == (code, -1, -1)
    assert cluster.image.end == end


@pytest.fixture
def coordinator() -> Harness:
    cluster = Harness()
    cluster.submit(FindCoordinatorRequest(key_type=1, coordinator_keys=["mine"]), 4)
    return cluster


@pytest.mark.parametrize("version", versions("InitProducerId"))
def test_each_producer_of_a_transactional_id_has_the_next_epoch(coordinator: Harness, version: int) -> None:
    assert [ask(coordinator, version, transactional_id="mine") for _ in range(3)] == [(0, 0, 0), (0, 0, 1), (0, 0, 2)]


FENCED = [(3, error_codes.INVALID_PRODUCER_EPOCH), (4, error_codes.PRODUCER_FENCED), (5, error_codes.PRODUCER_FENCED)]


@pytest.mark.parametrize(("version", "code"), FENCED)
def test_versions_before_4_do_not_know_producer_fenced(coordinator: Harness, version: int, code: int) -> None:
    ask(coordinator, transactional_id="mine")
    assert ask(coordinator, version, transactional_id="mine", producer_id=7, producer_epoch=0) == (code, -1, -1)
