"""The methods of KafkaDouble that keep its contents, and bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.arguments.parameters import ARGUMENTS, check, check_one
from kafkadouble.common.errors import UsageError
from kafkadouble.common.marking import verb
from kafkadouble.engine.verb_host import VerbHost
from kafkadouble.server.configs.did_you_mean import near
from kafkadouble.wire.wording import VerbCall

if TYPE_CHECKING:
    from kafkadouble.brokers.snapshot import Snapshot


MOST_SNAPSHOTS = 16
"""The snapshots that a double keeps by name."""

UNNAMED = "unnamed-"
"""Before the number of a snapshot that was taken over HTTP without a name."""


class SnapshotVerbs(VerbHost):
    """A part of KafkaDouble."""

    if TYPE_CHECKING:

        def _restore_clock(self) -> None:
            """A clock that was frozen or scaled is as it was at first."""

        def _security_was_restored(self) -> None:
            """The users are those of the snapshot."""

    _snapshots: dict[str, Snapshot]
    _unnamed = 0

    @verb
    def snapshot(self, name: str | None = None) -> Snapshot:
        """Returns the contents of the double at this moment, for `restore`: topics with their
        records and configs, groups with their offsets, transactions, leaders and epochs, and
        everything else in the metadata. It is in memory, outlives a stop, and may be restored any
        number of times. Nothing changes for clients.

        With a name, the double keeps the snapshot, in place of an earlier one with this name, and
        `restore` finds it by the name.

        Raises UsageError while nodes of other processes are part of the cluster, and for a
        seventeenth name.
        """
        from kafkadouble.brokers import snapshot

        if name is not None:
            self._check_room(name)
        taken = self._call(snapshot.take, self._serving().broker, name)
        if name is not None:
            self._snapshots[name] = taken
        return taken

    @property
    @verb
    def snapshots(self) -> dict[str, Snapshot]:
        """The snapshots that were taken with a name, by name."""
        return dict(self._snapshots)

    @verb
    def drop_snapshot(self, name: str) -> None:
        """Forgets the snapshot with this name. Raises UsageError if there is none."""
        self._named(name)
        self._snapshots.pop(name, None)

    def _name_of_snapshot(self) -> str:
        """A name for a snapshot of a caller that gave none, and that can keep nothing else of it.
        The oldest one with such a name makes room."""
        own = [name for name in self._snapshots if name.startswith(UNNAMED)]
        if own and len(self._snapshots) >= MOST_SNAPSHOTS:
            self._snapshots.pop(own[0])
        self._unnamed += 1
        return f"{UNNAMED}{self._unnamed}"

    def _check_room(self, name: str) -> None:
        check_one("name", ARGUMENTS["snapshot.name"], name)
        if name not in self._snapshots and len(self._snapshots) >= MOST_SNAPSHOTS:
            oldest = next(iter(self._snapshots))
            drop = VerbCall("drop_snapshot", oldest)
            raise UsageError(f"{MOST_SNAPSHOTS} snapshots with names are kept: {{drop}} makes room", drop=drop)

    def _named(self, name: str) -> Snapshot:
        if name not in self._snapshots:
            raise UsageError(f"there is no snapshot {name!r}{near(name, self._snapshots)}")
        return self._snapshots[name]

    @verb
    def restore(self, snapshot: Snapshot | str) -> None:
        """Restarts the cluster with the contents of a snapshot, given itself or by its name, as
        `reset` restarts it empty: with every connection closed, every broker running, without rules
        and requests, and a clock that was frozen or scaled as it was at first. Ports and cluster id
        stay. The snapshot may be of another double with the same number of brokers. A scenario is
        not applied again, and its steps end.

        Raises UsageError for a snapshot of other brokers, or of data directories where this double
        is in memory; KafkaError(REQUEST_TIMED_OUT) if the brokers have not caught up after 60 s.
        """
        check(snapshot=snapshot)
        from kafkadouble.brokers import snapshot as snapshots

        if isinstance(snapshot, str):
            snapshot = self._named(snapshot)
        running = self._serving()
        self._call(snapshots.check_fits, running.broker, snapshot)
        with running.replacing:
            self._end_steps()
            self._restore_clock()
            running.thread.run(snapshots.restore(running.broker, snapshot))
            self._security_was_restored()
