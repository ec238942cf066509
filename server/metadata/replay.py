"""The fold: an image and one metadata record make the next image.

Rules. One function a kind of record, in the tables of `fold_*.py`; a record that refers to what is not there is a broken log and raises
`BrokenLog`. The meaning of each is that of KIP-631 and of the KIP that brought the kind. What lies between the records that begin and end a
metadata transaction (KIP-868) happens at once, at its end, or never.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import fold_cluster, fold_security, fold_topics
from .broken_log import BrokenLog
from .image import EMPTY, Image

__all__ = ["BrokenLog", "Fold", "replay"]


def _nothing(image: Image, record: Any) -> Image:
    return image


FOLDS: dict[str, Callable[[Image, Any], Image]] = {
    **fold_cluster.FOLDS,
    **fold_topics.FOLDS,
    **fold_security.FOLDS,
    "NoOpRecord": _nothing,  # only moves the end of the log (KIP-835)
    "ZkMigrationStateRecord": _nothing,  # there is no ZooKeeper any more
}


def replay(image: Image, record: Any) -> Image:
    """The image after `record`, a decoded metadata record outside of a metadata transaction."""
    fold = FOLDS.get(type(record).__name__)
    if fold is None:
        raise BrokenLog(f"no meaning is known for {record!r}")
    return fold(image, record)


class Fold:
    """An image that follows a log. `image` is what may be seen: nothing of a transaction that has not ended."""

    def __init__(self, image: Image = EMPTY) -> None:
        self.image = image
        self._inside: Image | None = None

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction has begun and not ended: what comes next in the log does not follow on `image`."""
        return self._inside is not None

    def apply(self, record: Any) -> None:
        """Go on by one record."""
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


TRANSACTIONS: dict[str, Callable[[Fold, Any], None]] = {
    "BeginTransactionRecord": Fold._begin,
    "EndTransactionRecord": Fold._end,
    "AbortTransactionRecord": Fold._abort,
}
