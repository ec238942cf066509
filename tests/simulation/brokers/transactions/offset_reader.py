"""A simulated client that requests the committed offset of a group, again and again (OffsetFetch,
KIP-447)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.messages import error_codes
from kafkadouble.messages.generated.offset_fetch import OffsetFetchRequest
from kafkadouble.server.coordinator.coordinator_lookup import GROUP

from ..shape import TOPIC
from .steps import Asked, SteppedClient, Steps

if TYPE_CHECKING:
    from .host import TransactionHost

VERSION = 7
REST_MS = 400


class OffsetReader(SteppedClient["TransactionHost"]):
    """`offset` is the last answer. It ends when no transaction is open any more."""

    def __init__(self, cluster: TransactionHost, id: int, group: str) -> None:
        super().__init__(cluster, id)
        self.group, self.offset = group, -1

    def steps(self) -> Steps:
        is_ending = False
        while not is_ending:
            is_ending = self.cluster.is_resolved
            yield from self._fetch(stable=is_ending or self.random.random() < 0.5)
            yield REST_MS

    def _fetch(self, *, stable: bool) -> Steps:
        of = OffsetFetchRequest
        topic = of.OffsetFetchRequestTopic(name=TOPIC, partition_indexes=[0])
        body = of(group_id=self.group, topics=[topic], require_stable=stable)
        while True:
            answer = yield Asked((yield from self.coordinator(GROUP, self.group)), body, VERSION)
            found = None if answer is None or answer.error_code else answer.topics[0].partitions[0]
            if found is not None and not found.error_code:
                break
            if found is None or found.error_code != error_codes.UNSTABLE_OFFSET_COMMIT:
                self.forget_coordinator(GROUP, self.group)
            yield from self.pause()
        self.offset = found.committed_offset
        self.cluster.ledger.shown_offset(self, self.offset)

    def __repr__(self) -> str:
        return f"offset reader {self.id} of {self.group}"
