"""The client quotas of one node: Apache Kafka's `QuotaManagers`.

`is_on` is the only thing that a request looks at while the cluster has no quotas for clients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..configs.settings import Settings
from ..metadata.image import Image
from .client_quota_manager import ClientQuotaManager, QuotaConfig
from .connection_rates import address_limits, normal_address
from .controller_mutation_quota import ControllerMutationQuotaManager
from .default_quota_callback import Entity

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

    def image_changed(self, before: Image, after: Image, records: object) -> None:
        """The controller publishes a change of the metadata."""
        self.update(after.quotas)

    def update(self, quotas: Mapping[Entity, Mapping[str, float]]) -> None:
        """Take the quotas of the metadata image; the same again changes nothing."""
        if quotas is self._quotas:
            return
        self._quotas = quotas
        managers = (self.produce, self.fetch, self.request, self.controller_mutation)
        for manager in managers:
            manager.update(quotas)
        self.is_on = any(manager.is_on for manager in managers)
        self._address_limits = address_limits(quotas)

    def address_limit(self, host: str) -> float | None:
        """How many connections an address may create per second; None for any number."""
        if not self._address_limits:
            return None
        return self._address_limits.get(normal_address(host), self._address_limits.get(None))

    def __repr__(self) -> str:
        return f"{self.produce!r}; {self.fetch!r}; {self.request!r}; {self.controller_mutation!r}"
