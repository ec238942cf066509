"""The fold of the records whose meaning nobody asks for yet: delegation tokens. The latest of each key is kept as it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .image import Image, without

Fold = Callable[[Image, Any], Image]


def _kept(kind: str, field: str) -> Fold:
    """Keep the latest record of each key."""

    def fold(image: Image, record: Any) -> Image:
        return image._replace(rest=image.rest.set((kind, getattr(record, field)), record))

    return fold


def _dropped(kind: str, field: str) -> Fold:
    """Forget what was kept under the key."""

    def fold(image: Image, record: Any) -> Image:
        return image._replace(rest=without(image.rest, (kind, getattr(record, field))))

    return fold


FOLDS: dict[str, Fold] = {
    "DelegationTokenRecord": _kept("token", "token_id"),
    "RemoveDelegationTokenRecord": _dropped("token", "token_id"),
}
