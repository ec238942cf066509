"""Replays metadata records: an image and one record give the next image.

One function per kind of record, in the tables of `replay_*.py`. A record that refers to something
unknown raises `BrokenLog`. The meaning of each record is that of KIP-631 and of the KIP that added
it. Records of a metadata transaction (KIP-868) take effect together at its end, or never.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import replay_cluster, replay_security, replay_topics
from .broken_log import BrokenLog
from .image import EMPTY, Image

__all__ = ["BrokenLog", "MetadataDelta", "replay"]


def _no_change(image: Image, record: Any) -> Image:
    return image


REPLAYS: dict[str, Callable[[Image, Any], Image]] = {
    **replay_cluster.REPLAYS,
    **replay_topics.REPLAYS,
    **replay_security.REPLAYS,
    "NoOpRecord": _no_change,  # moves only the end of the log (KIP-835)
    "ZkMigrationStateRecord": _no_change,  # ZooKeeper is not supported any more
}


def replay(image: Image, record: Any) -> Image:
    """The image after `record`, a decoded metadata record outside a metadata transaction."""
    replay_record = REPLAYS.get(type(record).__name__)
    if replay_record is None:
        raise BrokenLog(f"no meaning is known for {record!r}")
    return replay_record(image, record)


class MetadataDelta:
    """Replays records onto an image, with their transactions. `image` excludes records of an open
    transaction.
    """

    def __init__(self, image: Image = EMPTY) -> None:
        self.image = image
        self._inside: Image | None = None

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open: then the next record of the log does not apply to
        `image`.
        """
        return self._inside is not None

    def replay(self, record: Any) -> None:
        """Replays one record."""
        step = TRANSACTIONS.get(type(record).__name__)
        if step is not None:
            step(self, record)
        elif self._inside is not None:
            self._inside = replay(self._inside, record)
        else:
            self.image = replay(self.image, record)

    def _begin(self, record: Any) -> None:
        if self._inside is not None:
            raise BrokenLog(f"{record!r} inside of a metadata transaction")
        self._inside = self.image

    def _end(self, record: Any) -> None:
        if self._inside is None:
            raise BrokenLog(f"{record!r} outside of a metadata transaction")
        self.image, self._inside = self._inside, None

    def _abort(self, record: Any) -> None:
        if self._inside is None:
            raise BrokenLog(f"{record!r} outside of a metadata transaction")
        self._inside = None


TRANSACTIONS: dict[str, Callable[[MetadataDelta, Any], None]] = {
    "BeginTransactionRecord": MetadataDelta._begin,
    "EndTransactionRecord": MetadataDelta._end,
    "AbortTransactionRecord": MetadataDelta._abort,
}
