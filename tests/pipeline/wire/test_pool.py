"""Clients that a worker keeps."""

from __future__ import annotations

import os

import pytest

from kafkadouble.pipeline.wire import options, pool
from kafkadouble.pipeline.wire.options import BATCH, QueryOptions


def settings(**more: str) -> QueryOptions:
    return options.read({"kafka.bootstrap.servers": "h:1", "subscribe": "t", **more}, BATCH)


@pytest.fixture(autouse=True)
def _forgotten() -> None:
    pool.close()


def test_connection_pool_has_one_client_for_equal_properties() -> None:
    assert pool.reading(settings()) is pool.reading(settings(minPartitions="5"))
    assert pool.reading(settings()) is not pool.reading(settings(**{"kafka.client.id": "other"}))
    assert pool.driving(settings()) is not pool.driving(settings())


def test_connection_pool_is_bounded() -> None:
    first = pool.reading(settings())
    for number in range(pool.MOST):
        pool.reading(settings(**{"kafka.client.id": str(number)}))
    assert pool.reading(settings()) is not first


def test_connection_of_another_process_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    first = pool.reading(settings())
    monkeypatch.setattr(os, "getpid", lambda: -1)
    assert pool.reading(settings()) is not first
