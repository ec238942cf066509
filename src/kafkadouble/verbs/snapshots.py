"""The methods of KafkaDouble that keep its contents, and bring them back."""

from __future__ import annotations

from typing import TYPE_CHECKING

from kafkadouble.arguments import check

from .host import VerbHost
from .registry import verb

if TYPE_CHECKING:
    from kafkadouble.snapshot import Snapshot


class SnapshotVerbs(VerbHost):
    """A part of KafkaDouble."""

    if TYPE_CHECKING:

        def _restore_clock(self) -> None:
            """A clock that was frozen or scaled is as it was at first."""

    @verb
    def snapshot(self) -> Snapshot:
        """Returns the contents of the double at this moment, for `restore`: topics with their
        records and configs, groups with their offsets, transactions, leaders and epochs, and
        everything else in the metadata. It is in memory, outlives a stop, and may be restored any
        number of times. Nothing changes for clients.

        Raises UsageError while nodes of other processes are part of the cluster.
        """
        from kafkadouble import snapshot

        return self._call(snapshot.take, self._serving().broker)

    @verb
    def restore(self, snapshot: Snapshot) -> None:
        """Restarts the cluster with the contents of a snapshot, as `reset` restarts it empty: with
        every connection closed, every broker running, without rules and requests, and a clock that
        was frozen or scaled as it was at first. Ports and cluster id stay. The snapshot may be of
        another double with the same number of brokers.

        Raises UsageError for a snapshot of other brokers, or of data directories where this double
        is in memory; KafkaError(REQUEST_TIMED_OUT) if the brokers have not caught up after 60 s.
        """
        check(snapshot=snapshot)
        from kafkadouble import snapshot as snapshots

        running = self._serving()
        self._call(snapshots.check_fits, running.broker, snapshot)
        self._restore_clock()
        running.thread.run(snapshots.restore(running.broker, snapshot))
