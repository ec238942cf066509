"""The client quotas of one node: Apache Kafka's `QuotaManagers`.

`is_on` is the only thing that a request looks at while the cluster has no quotas for clients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from ..configs.settings import Settings
from .client_quota_manager import ClientQuotaManager, QuotaConfig
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
        self.is_on = False
        """Whether there is a quota of any kind."""
        self._quotas: Mapping[Entity, Mapping[str, float]] = {}

    def update(self, quotas: Mapping[Entity, Mapping[str, float]]) -> None:
        """Take the quotas of the metadata image; the same again changes nothing."""
        if quotas is self._quotas:
            return
        self._quotas = quotas
        managers = (self.produce, self.fetch, self.request, self.controller_mutation)
        for manager in managers:
            manager.update(quotas)
        self.is_on = any(manager.is_on for manager in managers)

    def __repr__(self) -> str:
        return f"{self.produce!r}; {self.fetch!r}; {self.request!r}; {self.controller_mutation!r}"
