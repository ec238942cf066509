"""Requests about quotas, as the tests of this package send them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from kafkadouble.messages.generated.alter_client_quotas import AlterClientQuotasRequest
from kafkadouble.messages.generated.create_topics import CreateTopicsRequest
from kafkadouble.messages.generated.fetch import FetchRequest
from kafkadouble.messages.generated.produce import ProduceRequest
from tests.server.harness import Harness
from tests.server.topic_requests import appending, creating, fetching
from tests.support.records import batch

DEFAULT: str | None = None

Entry = AlterClientQuotasRequest.EntryData
Creatable = CreateTopicsRequest.CreatableTopic


def set_quota(cluster: Harness, entity: Mapping[str, str | None], **quotas: float | None) -> None:
    """Sets the quotas of an entity; None removes one."""
    parts = [AlterClientQuotasRequest.EntityData(entity_type=kind, entity_name=name) for kind, name in entity.items()]
    ops = [
        AlterClientQuotasRequest.OpData(key=key, value=value or 0.0, remove=value is None)
        for key, value in quotas.items()
    ]
    response = cluster.submit(AlterClientQuotasRequest(entries=[Entry(entity=parts, ops=ops)]), 1, "admin")
    assert [(entry.error_code, entry.error_message) for entry in response.entries] == [(0, None)]


def produce(size: int, topic: str = "t", acks: int = -1) -> ProduceRequest:
    """One record of about `size` bytes."""
    return appending(topic, batch(["x" * size]), acks=acks)


def fetch(offset: int = 0, topic: str = "t", **fields: Any) -> FetchRequest:
    """A fetch of one partition, without a session unless `fields` say otherwise."""
    return fetching(topic, offset, **{"session_id": 0, "session_epoch": -1, **fields})


def create(*names: str, partitions: int = 1) -> CreateTopicsRequest:
    return creating(*names, partitions=partitions)
