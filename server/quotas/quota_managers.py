"""The client quotas of one node: Apache Kafka's `QuotaManagers`.

`is_on` is the only thing that a request looks at while the cluster has no quotas for clients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from kafkadouble.messages.generated.client_quota_record import ClientQuotaRecord
from kafkadouble.messages.generated.end_transaction_record import EndTransactionRecord

from ..configs.settings import Settings
from ..metadata.image import Image
from ..metadata.replay_security import entity_of
from .client_quota_manager import ClientQuotaManager, QuotaConfig
from .connection_rates import IP, address_limits, normal_address
from .controller_mutation_quota import ControllerMutationQuotaManager
from .default_quota_callback import Entity, by_key

NOTHING: Mapping[str, float] = {}

NANOS_TO_PERCENT = 100.0 / 1_000_000_000
"""Nanoseconds of one second of one thread, as a percentage."""


class QuotaManagers:
    """The quotas by kind. `nanos` is the clock (ns) that the time of requests is measured with."""

    def __init__(self, settings: Settings, nanos: Callable[[], int]) -> None:
        config = QuotaConfig(settings.int("quota.window.num"), settings.int("quota.window.size.seconds"))
        self.nanos = nanos
        self.produce = ClientQuotaManager("producer_byte_rate", config)
        self.fetch = ClientQuotaManager("consumer_byte_rate", config)
        self.request = ClientQuotaManager("request_percentage", config, longest_ms=config.window_ms)
        self.controller_mutation = ControllerMutationQuotaManager(
            QuotaConfig(
                settings.int("controller.quota.window.num"), settings.int("controller.quota.window.size.seconds")
            )
        )
        self._address_limits: dict[str | None, float] = {}
        self.is_on = False
        """Whether there is a quota of any kind for requests."""
        self._quotas: Mapping[Entity, Mapping[str, float]] = {}

    def image_changed(self, before: Image, after: Image, records: Sequence[Any] | None) -> None:
        """The controller publishes a change of the metadata. It costs as much as the records touch,
        not as all quotas; quotas of addresses, which are few, are all taken again."""
        if after.quotas is self._quotas:
            return
        # The records that a metadata transaction ends with are not all of its records.
        if before.quotas is not self._quotas or records is None or any(map(_ends_transaction, records)):
            self.update(after.quotas)
            return
        entities = {entity_of(record.entity) for record in records if isinstance(record, ClientQuotaRecord)}
        self._quotas = after.quotas
        changed = by_key((entity, after.quotas.get(entity, NOTHING)) for entity in entities)
        for manager in self._managers:
            manager.change(changed)
        self.is_on = any(manager.is_on for manager in self._managers)
        if any(kind == IP for entity in entities for kind, _ in entity):
            self._address_limits = address_limits(after.quotas)

    @property
    def _managers(self) -> Sequence[ClientQuotaManager | ControllerMutationQuotaManager]:
        return self.produce, self.fetch, self.request, self.controller_mutation

    def update(self, quotas: Mapping[Entity, Mapping[str, float]]) -> None:
        """Takes the quotas of the metadata image; the same again changes nothing."""
        if quotas is self._quotas:
            return
        self._quotas = quotas
        for manager in self._managers:
            manager.update(quotas)
        self.is_on = any(manager.is_on for manager in self._managers)
        self._address_limits = address_limits(quotas)

    def address_limit(self, host: str) -> float | None:
        """How many connections an address may create per second; None for any number."""
        if not self._address_limits:
            return None
        return self._address_limits.get(normal_address(host), self._address_limits.get(None))

    def __repr__(self) -> str:
        return f"{self.produce!r}; {self.fetch!r}; {self.request!r}; {self.controller_mutation!r}"


def _ends_transaction(record: object) -> bool:
    return isinstance(record, EndTransactionRecord)
