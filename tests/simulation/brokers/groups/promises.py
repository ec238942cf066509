"""The promises of groups whose members own something: partitions or tasks. Each is a small function
that raises Broken, and states the sentence of the KIP that is broken."""

from __future__ import annotations

from ...world import Broken


def has_two_owners(thing: object, epoch: int, client: object, other: object) -> None:
    """KIP-848, KIP-1071: a partition or active task has at most one owner in a member epoch."""
    raise Broken(f"{thing} has two owners in epoch {epoch}: {other!r} and {client!r}")


def is_given_too_early(thing: object, client: object, other: object) -> None:
    """KIP-848, KIP-1071: a member gets a partition or task when the one that had it has revoked it,
    or has left."""
    raise Broken(f"{client!r} is given {thing}, which {other!r} still has")


def epoch_is_kept(client: object, epoch: int, message: str | None) -> None:
    """KIP-848: an epoch that was answered is committed, so no coordinator is behind it."""
    if "greater member epoch" in (message or ""):
        raise Broken(f"{client!r} is in epoch {epoch}, which the coordinator does not know: {message}")


def epoch_only_grows(client: object, epoch: int, before: int) -> None:
    """KIP-848: the epoch of a member only grows while it is in the group."""
    if epoch < before:
        raise Broken(f"{client!r} of epoch {before} gets the epoch {epoch}")
