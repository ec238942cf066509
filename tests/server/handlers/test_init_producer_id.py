"""InitProducerId: for idempotent producers at every version, and for transactional ones."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages.generated.find_coordinator import FindCoordinatorRequest
from kafkadouble.messages.generated.init_producer_id import InitProducerIdRequest
from tests.server.harness import Harness, versions


def ask(cluster: Harness, version: int = 4, **fields: Any) -> tuple[int, int, int]:
    given = {"transactional_id": None, "transaction_timeout_ms": 60_000} | fields
    response = cluster.submit(InitProducerIdRequest(**given), version)
    return response.error_code, response.producer_id, response.producer_epoch


def test_init_producer_id_gives_each_producer_another_id() -> None:
    cluster = Harness()
    assert [ask(cluster, version) for version in versions("InitProducerId")] == [
        (0, number, 0) for number in range(len(versions("InitProducerId")))
    ]


def test_unstable_version_of_init_producer_id_is_not_served() -> None:
    assert list(versions("InitProducerId")) == [0, 1, 2, 3, 4, 5]


def test_producer_ids_continue_in_the_next_block() -> None:
    cluster = Harness()
    assert [ask(cluster)[1] for _ in range(1005)] == list(range(1005))


@pytest.fixture
def coordinator() -> Harness:
    cluster = Harness()
    cluster.submit(FindCoordinatorRequest(key_type=1, coordinator_keys=["mine"]), 4)
    return cluster


@pytest.mark.parametrize("version", versions("InitProducerId"))
def test_each_producer_of_a_transactional_id_has_the_next_epoch(coordinator: Harness, version: int) -> None:
    assert [ask(coordinator, version, transactional_id="mine") for _ in range(3)] == [(0, 0, 0), (0, 0, 1), (0, 0, 2)]
