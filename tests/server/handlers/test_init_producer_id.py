"""InitProducerId for idempotent producers, at every version; transactions are refused."""

from __future__ import annotations

from typing import Any

import pytest

from kafkadouble.messages import error_codes
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
    ({"transactional_id": "t"}, error_codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED),
    ({"transactional_id": "t", "producer_id": 5}, error_codes.INVALID_REQUEST),
]


@pytest.mark.parametrize(("fields", "code"), REFUSED)
def test_what_is_refused(fields: dict[str, Any], code: int) -> None:
    cluster = Harness()
    end = cluster.image.end
    assert ask(cluster, **fields) == (code, -1, -1)
    assert cluster.image.end == end


@pytest.mark.parametrize("version", versions("InitProducerId"))
def test_transactions_are_refused_at_every_version(version: int, caplog: pytest.LogCaptureFixture) -> None:
    assert ask(Harness(), version, transactional_id="mine")[0] == error_codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    assert not error_codes.is_retriable(error_codes.TRANSACTIONAL_ID_AUTHORIZATION_FAILED)
    assert "asks for transactions ('mine')" in caplog.text
