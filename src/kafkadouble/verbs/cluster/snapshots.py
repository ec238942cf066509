"""The methods of KafkaDouble that keep its contents, and bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.arguments.parameters import ARGUMENTS, check, check_one
from kafkadouble.brokers import snapshot as contents
from kafkadouble.common.errors import UsageError
from kafkadouble.common.marking import attribute, verb
from kafkadouble.host import host_clock, host_users
from kafkadouble.server.configs.did_you_mean import near
from kafkadouble.wire.wording import VerbCall

if TYPE_CHECKING:
    from kafkadouble.brokers.snapshot import Snapshot
    from kafkadouble.host.host import Host


MOST_SNAPSHOTS = 16
"""The snapshots that a double keeps by name."""

UNNAMED = "unnamed-"
"""Before the number of a snapshot that was taken over HTTP without a name."""


@verb
def snapshot(host: Host, name: str | None = None) -> Snapshot:
    """Returns the contents of the double at this moment, for `restore`: topics with their
    records and configs, groups with their offsets, transactions, leaders and epochs, and
    everything else in the metadata. It is in memory, outlives a stop, and may be restored any
    number of times. Nothing changes for clients.

    With a name, the double keeps the snapshot, in place of an earlier one with this name, and
    `restore` finds it by the name.

    Raises UsageError while nodes of other processes are part of the cluster, and for a
    seventeenth name.
    """
    if name is not None:
        check_one("name", ARGUMENTS["snapshot.name"], name)
        if name not in host.snapshots and len(host.snapshots) >= MOST_SNAPSHOTS:
            oldest = next(iter(host.snapshots))
            drop = VerbCall("drop_snapshot", oldest)
            raise UsageError(f"{MOST_SNAPSHOTS} snapshots with names are kept: {{drop}} makes room", drop=drop)
    taken = host.call(contents.take, host.serving().broker, name)
    if name is not None:
        host.snapshots[name] = taken
    return taken


@attribute
@verb
def snapshots(host: Host) -> dict[str, Snapshot]:
    """The snapshots that were taken with a name, by name."""
    return dict(host.snapshots)


@verb
def drop_snapshot(host: Host, name: str) -> None:
    """Forgets the snapshot with this name. Raises UsageError if there is none."""
    _named(host, name)
    host.snapshots.pop(name, None)


def name_of_snapshot(host: Host) -> str:
    """A name for a snapshot of a caller that gave none, and that can keep nothing else of it.
    The oldest one with such a name makes room."""
    own = [name for name in host.snapshots if name.startswith(UNNAMED)]
    if own and len(host.snapshots) >= MOST_SNAPSHOTS:
        host.snapshots.pop(own[0])
    host.unnamed_snapshots += 1
    return f"{UNNAMED}{host.unnamed_snapshots}"


def _named(host: Host, name: str) -> Snapshot:
    if name not in host.snapshots:
        raise UsageError(f"there is no snapshot {name!r}{near(name, host.snapshots)}")
    return host.snapshots[name]


@verb
def restore(host: Host, snapshot: Snapshot | str) -> None:
    """Restarts the cluster with the contents of a snapshot, given itself or by its name, as
    `reset` restarts it empty: with every connection closed, every broker running, without rules
    and requests, and a clock that was frozen or scaled as it was at first. Ports and cluster id
    stay. The snapshot may be of another double with the same number of brokers. A scenario is
    not applied again, and its steps end.

    Raises UsageError for a snapshot of other brokers, or of data directories where this double
    is in memory; KafkaError(REQUEST_TIMED_OUT) if the brokers have not caught up after 60 s.
    """
    check(snapshot=snapshot)
    if isinstance(snapshot, str):
        snapshot = _named(host, snapshot)
    running = host.serving()
    host.call(contents.check_fits, running.broker, snapshot)
    with running.replacing:
        host.end_steps()
        host_clock.restore(host)
        running.thread.run(contents.restore(running.broker, snapshot))
        if host.security is not None:
            host_users.were_restored(host, host.security)
