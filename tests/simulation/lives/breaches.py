"""What the mutations put in the place of the core's own: each breaks one rule, and nothing else."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from kafkadouble.server.log.epochs import LeaderEpochCache
from kafkadouble.server.logs.files import FileLogs

_tick = FileLogs.tick


def nothing(*_: Any, **__: Any) -> None: ...


def none_of_them(*_: Any, **__: Any) -> int:
    return 0


def has_a_broker(node: Any) -> bool:
    return "broker" in node.roles


def only_what_it_leads(node: Any) -> Iterable[Any]:
    return list(node.partitions)


def every_life_alike(seed: int, *_: Any) -> int:
    return seed


def removes_without_a_checkpoint(self: FileLogs, now: int, delay: int) -> None:
    self.checkpoint = nothing  # type: ignore[method-assign]  # as long as it removes
    try:
        _tick(self, now, delay)
    finally:
        del self.checkpoint


def compares_all_batches(epoch: int, offset: int, latest: int, kept: LeaderEpochCache | None) -> str:
    """Also those below the log start offset, of which the checkpoint says nothing any more."""
    if epoch < latest:
        return f"epoch {epoch} after epoch {latest}"
    said = epoch if kept is None else kept.epoch_for(offset)
    return "" if epoch == said else f"epoch {epoch}, where the checkpoint has {said}"
