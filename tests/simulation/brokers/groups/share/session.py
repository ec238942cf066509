"""The client's side of a share session with one broker: the epoch of its next request, the
partitions that it has, and the records that the member holds there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby

from kafkadouble.messages.generated.share_acknowledge import ShareAcknowledgeRequest
from kafkadouble.messages.generated.share_fetch import ShareFetchRequest
from kafkadouble.server.share.share_session import FINAL_EPOCH, INITIAL_EPOCH, next_epoch

from .deliveries import Held

Place = tuple[str, int]
"""A topic and the index of a partition."""

Decided = list[tuple[Held, int]]
"""Records with the types of their acknowledgements, in the order of their offsets."""


class ClientSession:
    """The session with the broker `to`. `held` are the records of it that are not acknowledged."""

    def __init__(self, to: int) -> None:
        self.to, self.epoch = to, INITIAL_EPOCH
        self.partitions = set[Place]()
        self.held: list[Held] = []

    @property
    def is_open(self) -> bool:
        return self.epoch not in (INITIAL_EPOCH, FINAL_EPOCH)

    def reset(self) -> None:
        """The broker does not know the session, or the connection is broken: the member gives up
        what it holds."""
        self._give_up()
        self.epoch = INITIAL_EPOCH
        self.partitions.clear()

    def _give_up(self) -> None:
        for held in self.held:
            held.is_over = True
        self.held = []

    def advance(self) -> int:
        """The epoch of this request; the next one has the following epoch. With the final one the
        member gives up what it holds."""
        epoch = self.epoch
        if epoch == FINAL_EPOCH:
            self._give_up()
        else:
            self.epoch = next_epoch(epoch)
        return epoch

    def hold(self, held: Held) -> None:
        """The member has acquired a record, perhaps again after its lock had timed out."""
        self.held = [each for each in self.held if each.key != held.key]
        self.held.append(held)

    def take(self, decided: Decided) -> None:
        """These are acknowledged: the member does not hold them from now on."""
        for held, _ in decided:
            held.is_over = True
        self.held = [held for held in self.held if not held.is_over]


Batch = ShareFetchRequest.AcknowledgementBatch | ShareAcknowledgeRequest.AcknowledgementBatch


def batches(of: type[Batch], decided: Decided, *, one_type_each: bool) -> Iterator[Batch]:
    """The acknowledgements of one partition, in as few batches as possible; a batch has one type,
    or one for each offset."""
    for same in _runs(decided, one_type_each=one_type_each):
        types = [type for _, type in same]
        one = types[:1] if len(set(types)) == 1 else types
        yield of(first_offset=same[0][0].key.offset, last_offset=same[-1][0].key.offset, acknowledge_types=one)


def _runs(decided: Decided, *, one_type_each: bool) -> Iterator[Sequence[tuple[Held, int]]]:
    """The offsets that follow one another, with the same type if it must be one."""

    def run_of(numbered: tuple[int, tuple[Held, int]]) -> tuple[int, int]:
        number, (held, type) = numbered
        return held.key.offset - number, type if one_type_each else 0

    for _, run in groupby(enumerate(decided), run_of):
        yield [each for _, each in run]
