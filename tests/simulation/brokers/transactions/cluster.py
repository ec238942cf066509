"""A simulated cluster with transactional producers, read_committed consumers, and the coordinators'
topics."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from kafkadouble.messages.generated.update_features import UpdateFeaturesRequest
from kafkadouble.server.log.log import PartitionLog
from kafkadouble.server.metadata.features import TRANSACTION_VERSION
from kafkadouble.server.metadata.internal_topics import TRANSACTION_STATE
from kafkadouble.server.transactions.transaction_state import BETWEEN_TRANSACTIONS

from ...world import World
from ..internal import InternalCluster
from ..member import Member
from ..shape import HIGHEST_LEVEL, Shape
from ..watch import Watch
from . import promises
from .ledger import Ledger
from .offset_reader import OffsetReader
from .producer import TransactionalProducer
from .reader import Reader
from .watch import TransactionalWatch

FIRST_PRODUCER, FIRST_READER, FIRST_OFFSET_READER = 1001, 401, 501


class TransactionalCluster(InternalCluster):
    """`transactional` are all producers that ever were; the last of each transactional id is in
    `newest`."""

    watch: TransactionalWatch

    def __init__(self, world: World, shape: Shape) -> None:
        super().__init__(world, shape)
        self.count = Counter[str]()
        self.transactional: list[TransactionalProducer] = []
        self.newest: dict[str, TransactionalProducer] = {}
        self.readers: list[Reader] = []
        self.offset_readers: dict[str, OffsetReader] = {}
        self.is_ending = self.is_resolved = False

    def _make_watch(self) -> Watch:
        return TransactionalWatch(self)

    @property
    def transactions_versions(self) -> Sequence[int]:
        """A producer learns the level of transaction.version from any broker, so it may have
        version 2 when all of them know it."""
        return self.shape.transactions_versions if self._is_raised() else (1,)

    def _is_raised(self) -> bool:
        nodes = [member.node for member in self.brokers if member.node is not None]
        return bool(nodes) and all(node.image.features.get(TRANSACTION_VERSION, 0) >= HIGHEST_LEVEL for node in nodes)

    def raise_level(self) -> None:
        """Raises transaction.version, until every broker knows it."""
        if self._is_raised() or self.is_ending:
            return
        of = UpdateFeaturesRequest
        update = of.FeatureUpdateKey(feature=TRANSACTION_VERSION, max_version_level=HIGHEST_LEVEL)
        self.world.note("transaction.version is to be {}", HIGHEST_LEVEL)
        self.tell_controller(of(feature_updates=[update], timeout_ms=1000), 1)
        self.world.after(1000, self.raise_level)

    @property
    def ledger(self) -> Ledger:
        return self.watch.ledger

    def _begin_clients(self) -> None:
        super()._begin_clients()
        if self.shape.is_upgraded:
            self.world.after(self.world.random.randint(500, 4000), self.raise_level)
        for number in range(self.shape.transactional):
            self._begin_producer(f"app{number}")
            newest = self.newest[f"app{number}"]
            reader = OffsetReader(self, FIRST_OFFSET_READER + number, newest.group)
            self.offset_readers[newest.transactional_id] = reader
            reader.begin()
        self._begin_readers()

    def _begin_readers(self) -> None:
        for index in self.partitions:
            self.readers.append(Reader(self, FIRST_READER + len(self.readers), index))
            self.readers[-1].begin()

    def _begin_producer(self, transactional_id: str) -> None:
        before = self.newest.get(transactional_id)
        least = 1 if before is None else before.version
        made = TransactionalProducer(self, FIRST_PRODUCER + len(self.transactional), transactional_id, least)
        self.transactional.append(made)
        self.newest[transactional_id] = made
        made.begin()

    def replace(self, producer: TransactionalProducer) -> None:
        """Another producer begins with the same transactional id: soon, or so late that an open
        transaction times out."""
        random, id = self.world.random, producer.transactional_id

        def begin() -> None:
            if not self.is_ending and self.newest[id] is producer:
                self._begin_producer(id)

        self.world.after(random.choice((1, 300, random.randint(0, 3000), random.randint(0, 12_000))), begin)

    def figures(self) -> dict[str, int]:
        """What has happened to transactions."""
        return {
            "transactions begun": len(self.ledger.transactions),
            **{f"transactions {how}": self.count[f"transactions {how}"] for how in ("committed", "aborted")},
            "producers replaced": len(self.transactional) - len(self.newest),
        }

    def coordinator(self, index: int) -> Member | None:
        """The broker that leads a partition of `__transaction_state`."""
        return self.coordinator_of(TRANSACTION_STATE, index)

    def state(self) -> str:
        internal = {topic: watch.partitions for topic, watch in self.watch.internal.items()}
        return f"{super().state()}, {internal}, {[*self.newest.values()]}, {[*self.readers]}, {[*self._logs()]}"

    def recover(self) -> None:
        """Ends all faults: every transaction ends, too, and the readers reach the end of the
        logs."""
        self.is_ending = True
        for producer in self.producers:
            producer.is_ending = True
        self.end_faults()
        self.await_order()
        self.require(lambda: all(each.is_over for each in self.transactional), "a producer does not come to its end")
        if self.ledger.is_whole:
            self.require(self._has_none_open, "a transaction stays open")
        self.is_resolved = True
        self._begin_readers()  # readers that begin late get the same
        super().recover()
        if self.ledger.is_whole:
            self._check_end()

    def _has_none_open(self) -> bool:
        return all(
            entry.metadata.state in BETWEEN_TRANSACTIONS and entry.pending_state is None
            for member in self.brokers
            if member.node is not None
            for shard in member.node.transactions
            for entry in shard.entries.values()
        )

    def _logs(self) -> Iterator[tuple[str, int, PartitionLog]]:
        """Every log of every broker, with its topic and index."""
        for watch in (self.watch, *self.watch.internal.values()):
            for index, image in watch.partitions.items():
                for id in image.replicas:
                    log = self.members[id].log(watch.topic, index)
                    if log is not None:
                        yield watch.topic, index, log

    def _check_end(self) -> None:
        for watch in (self.watch, *self.watch.internal.values()):
            for topic, index, log in self._logs():
                if topic == watch.topic:
                    promises.nothing_hangs(log, watch.histories[index])
        self.require(
            lambda: all(reader.has_all for reader in self.readers), "a read_committed consumer does not come to the end"
        )
        self.require(lambda: all(reader.is_over for reader in self.offset_readers.values()), "a group gets no offset")
        self.ledger.check_end(self.watch.histories)
        for reader in self.readers:
            reader.check_end()
        for id, of_group in self.offset_readers.items():
            promises.offset_is_the_last(of_group.group, of_group.offset, self.ledger.last_committed_offset(id))
