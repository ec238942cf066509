"""Puts the parts of one node together: a request goes in, and an answer or a wait comes out; a tick
goes in, and what is due is done.

Every step is given the time, and the node keeps it in `now` (ms) for the length of the step
(`Node.advance`): a handler that is resumed later sees the later time. The node delegates
everything: `waiting` holds the handlers that wait, `image` is the committed metadata of
the cluster, `partitions` are led here, `groups` are coordinated here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from random import Random
from types import GeneratorType
from typing import TYPE_CHECKING, Any

from kafkadouble.messages.uuid import Uuid

from . import dispatch
from .configs.settings import Settings
from .controller.controller import Controller
from .faults.plane import Faults
from .groups.service.group_coordinator import GroupCoordinator
from .logs.flushing import FlushQueue
from .logs.life_seed import seed_of_life
from .logs.memory import MemoryLogs
from .logs.raft_manager import RaftManager, metadata_log
from .quotas.quota_managers import QuotaManagers
from .replica import scheduled_tasks
from .replica.log_cleaner import LogCleaner
from .replica.replica_manager import ReplicaManager
from .requests.answer import DISCONNECT, Answer
from .requests.gc_pause import all_kept
from .requests.listener_spec import ListenerSpec
from .requests.memory_pool import MemoryPool
from .requests.request import Request
from .requests.stopwatch import stopped
from .requests.waiting import FEW_AT_ONCE, HandlerTask, Wait, Waiting
from .share.share_coordinator import ShareCoordinator
from .tracing.standard_subscribers import subscribed
from .tracing.trace import Trace
from .transactions.transaction_coordinator import TransactionCoordinator

if TYPE_CHECKING:
    from .broker.broker_lifecycle_manager import BrokerLifecycleManager
    from .broker.client_metrics_manager import ClientMetricsManager, TelemetryExporter
    from .broker.cluster_parts import ClusterParts
    from .broker.controller_registration_manager import ControllerRegistrationManager
    from .configs.layers import Layers
    from .groups.service.former_members import FormerMembers
    from .logs.logs import Logs
    from .metadata.image import Image
    from .metadata.snapshot_generator import SnapshotGenerator
    from .raft.outbound_channel import PeerChannel
    from .replica.fetching.fetch_sessions import FetchSessionCache
    from .replica.replica_alter_log_dirs_manager import ReplicaAlterLogDirsManager
    from .replica.replication.alter_partition_manager import AlterPartitionManager
    from .replica.replication.replica_fetcher_manager import ReplicaFetcherManager
    from .replica.replication.replication_quotas import ReplicationQuotaManagers
    from .security.authorizer import Authorizer
    from .security.sasl.oauth_bearer import TokenCheck
    from .security.sasl.sasl_listeners import SaslListeners
    from .security.tls.listener_contexts import ListenerContexts
    from .share.default_share_group_dlq_manager import DefaultShareGroupDLQManager
    from .share.default_state_persister import DefaultStatePersister
    from .share.partition_metadata_client import PartitionMetadataClient
    from .share.share_partition_manager import SharePartitionManager


FEW_BYTES = 1 << 16
"""Bytes of metadata, after fewer of which a snapshot is looked at only from time to time."""


class Node:
    """One node of a cluster: a broker, a controller, or both, by `process.roles`. A single node is
    the whole cluster, and a quorum of one.

    `listeners` are its own, with the addresses that they were bound to; other nodes reach its
    controller if a listener of controllers is advertised. `seed` feeds every choice that Kafka
    makes at random (topic ids, member ids, session ids): the same requests at the same times give
    the same answers. Each life of a node makes other choices (`life_seed`). `history` keeps the
    requests; it costs time with every request. `logs` are what the node stores, and what an earlier
    life left; in memory unless given. `stopwatch` gives the time (ms) inside a step, for metrics
    alone; `nanos` gives it in ns, for the quota of the time of requests. `telemetry` takes the
    metrics that clients push.
    """

    channels: Sequence[PeerChannel] = ()
    """The channels to other nodes; none if it is alone."""
    controller_registration: ControllerRegistrationManager | None = None
    """Of a controller with peers."""
    lifecycle: BrokerLifecycleManager | None = None
    """Of a broker whose active controller is, or may become, another node."""
    authorizer: Authorizer | None = None
    """Checks rights at its controller, if one is set."""
    tls: ListenerContexts | None = None
    """The certificates of its listeners, if any has TLS."""
    fetchers: ReplicaFetcherManager | None = None
    """The partitions that it follows, if there are, or may be, other brokers."""
    alter_partition_manager: AlterPartitionManager | None = None
    replication_quotas: ReplicationQuotaManagers | None = None
    """The rates of throttled replicas, as leader and as follower."""

    def __init__(
        self,
        settings: Settings,
        *,
        listeners: Sequence[ListenerSpec],
        now: int,
        seed: int,
        history: bool = True,
        logs: Logs | None = None,
        cluster_id: str | None = None,
        stopwatch: Callable[[], int] = stopped,
        nanos: Callable[[], int] = stopped,
        telemetry: TelemetryExporter | None = None,
        token_check: TokenCheck | None = None,
    ) -> None:
        # What it is given.
        self.settings, self.now, self.stopwatch = settings, now, stopwatch
        self.telemetry, self.token_check = telemetry, token_check
        self.listeners = tuple(listeners)
        self.advertised = next(listener.advertised for listener in self.listeners if listener.advertised is not None)
        """Host and port of the first advertised listener."""
        self.id = settings.int("node.id")
        self.roles = frozenset(settings.list("process.roles"))
        self.logs = logs or MemoryLogs()
        # What it is called. Each random value moves the ones after it: their order is fixed.
        self.random = Random(seed_of_life(seed, self.logs, metadata_log(self.logs, settings, now)))
        self.cluster_id = self.logs.cluster_id or cluster_id or str(Uuid.random(self.random.randbytes))
        self.incarnation_id = Uuid.random(self.random.randbytes)
        self.own_directory = self.logs.call_directory(Uuid.random(self.random.randbytes))
        # What moves.
        self.began = now
        self.snapshots_from = min(FEW_BYTES, settings.int("metadata.log.max.record.bytes.between.snapshots"))
        self.halted: str | None = None  # why this node cannot go on; its owner must end it
        self.is_registered = False  # as a broker
        self.waiting = Waiting()
        # One frame if it is unlimited, as by default.
        bound = settings.int("queued.max.request.bytes")
        self.intake = MemoryPool(bound if bound > 0 else settings.int("socket.request.max.bytes"), self.waiting.timers)
        self.unsent = 0
        """Bytes of unread answers of all connections. If many, a Fetch returns one batch."""
        # Its parts. A part is given the node, and uses what its room's protocol names, from
        # `_start` on; what it uses before that is built above it.
        self.faults = Faults(self)
        self.quotas = QuotaManagers(settings, nanos)
        self.trace = Trace(self.id)
        self.history, self.member_fetches = subscribed(self.trace, history=history)
        self.flushing = FlushQueue()
        self.partitions = ReplicaManager(self)
        self.controller = Controller(self)
        self.quorum = RaftManager(self, self.controller)
        if settings["authorizer.class.name"]:
            from .security.authorizer import of_settings

            self.authorizer = of_settings(settings)
        if any(listener.has_tls and listener.bind is not None for listener in self.listeners):
            from .security.tls.listener_contexts import ListenerContexts

            self.tls = ListenerContexts(settings, self.listeners)
        self.transactions = TransactionCoordinator(self)
        self.share_coordinator = ShareCoordinator(self)
        if self.quorum.needs_peers:
            from .broker.cluster_parts import cluster_parts

            self._assign(cluster_parts(self))
        self.groups = GroupCoordinator(self)
        self.former_members: FormerMembers | None = None  # its owner sets them
        self.cleaner = LogCleaner(self)
        self._start()

    def _assign(self, parts: ClusterParts) -> None:
        """Assigns the parts of a node with peers; what its roles do not need stays None."""
        self.channels, self.controller_registration = parts.channels, parts.controller_registration
        if parts.broker is not None:
            self.lifecycle, self.fetchers = parts.broker.lifecycle, parts.broker.fetchers
            self.alter_partition_manager = parts.broker.alter_partition_manager
            self.replication_quotas = parts.broker.replication_quotas

    def _start(self) -> None:
        """Connects the parts, and lets each begin. A node that is alone leads the quorum then."""
        if "broker" in self.roles:
            self.logs.check()
        self.controller.begin()
        parts = (self.quotas, self.controller_registration, self.lifecycle, self.groups, self.share_coordinator)
        self.controller.listeners += [part.image_changed for part in parts if part is not None]
        self.quotas.update(self.image.quotas)
        self.partitions.listeners += [self.groups.runtime, self.transactions.runtime, self.share_coordinator.runtime]
        if self.lifecycle is not None and not self.quorum.is_alone:
            self.lifecycle.begin()
        self.logs.begin()
        self.quorum.start()
        self.cleaner.start()
        scheduled_tasks.schedule_all(self)

    def reload_problem(self, altered: Layers) -> str:
        """Why its listeners cannot load what these settings name, or ""."""
        return "" if self.tls is None else self.tls.problem_of(altered)

    @cached_property
    def snapshot_generator(self) -> SnapshotGenerator:
        """Writes and deletes the snapshots of the metadata; most nodes end before there is one."""
        from .metadata.snapshot_generator import SnapshotGenerator

        return SnapshotGenerator(self, self.settings, self.controller, self.quorum.replica, self.quorum.snapshots)

    @cached_property
    def persister(self) -> DefaultStatePersister:
        """The store of the state of share partitions; most clusters have no share groups."""
        from .share.default_state_persister import DefaultStatePersister

        return DefaultStatePersister(self)

    @property
    def has_persister(self) -> bool:
        """Whether the persister was used."""
        return "persister" in vars(self)

    @property
    def has_partition_metadata_client(self) -> bool:
        """Whether the client for end offsets was used."""
        return "partition_metadata_client" in vars(self)

    @cached_property
    def partition_metadata_client(self) -> PartitionMetadataClient:
        """Asks for the end offsets that the lag of share groups is computed from."""
        from .share.partition_metadata_client import PartitionMetadataClient

        return PartitionMetadataClient(self)

    @property
    def has_share_group_dlq_manager(self) -> bool:
        """Whether there is a writer of dead-letter queues."""
        return "share_group_dlq_manager" in vars(self)

    @cached_property
    def share_group_dlq_manager(self) -> DefaultShareGroupDLQManager:
        """Writes the records that share groups give up to their dead-letter topics."""
        from .share.default_share_group_dlq_manager import DefaultShareGroupDLQManager

        return DefaultShareGroupDLQManager(self)

    @property
    def has_replica_alter_log_dirs_manager(self) -> bool:
        """Whether a replica was moved between log directories."""
        return "replica_alter_log_dirs_manager" in vars(self)

    @cached_property
    def replica_alter_log_dirs_manager(self) -> ReplicaAlterLogDirsManager:
        """Moves replicas between log directories; most nodes move none."""
        from .replica.replica_alter_log_dirs_manager import ReplicaAlterLogDirsManager

        return ReplicaAlterLogDirsManager(self)

    @cached_property
    def sasl(self) -> SaslListeners:
        """The mechanisms of its listeners; the first connection with SASL makes them."""
        from .security.sasl.sasl_listeners import SaslListeners

        return SaslListeners(self)

    @cached_property
    def client_metrics(self) -> ClientMetricsManager:
        """The client instances that push metrics; the first of their requests makes it."""
        from .broker.client_metrics_manager import ClientMetricsManager

        return ClientMetricsManager(self)

    @cached_property
    def fetch_sessions(self) -> FetchSessionCache:
        """The sessions of fetchers; the first Fetch makes the cache."""
        from .replica.fetching.fetch_sessions import FetchSessionCache

        return FetchSessionCache(self.settings.int("max.incremental.fetch.session.cache.slots"), self.random)

    @cached_property
    def share_partitions(self) -> SharePartitionManager:
        """The share partitions and share sessions; the first ShareFetch makes them."""
        from .share.share_partition_manager import SharePartitionManager

        writes = bool(self.settings["group.share.dlq.manager.class.name"])
        made = SharePartitionManager(self, self.persister, self.share_group_dlq_manager if writes else None)
        self.partitions.listeners.append(made)
        self.controller.listeners.append(made.image_changed)
        return made

    def advance(self, now: int) -> None:
        """Sets the time (ms) of what happens next. Only here and in `submit` does time enter a
        node."""
        self.now = now

    def submit(self, request: Request[Any], reply: Callable[[Answer], None], now: int) -> HandlerTask | None:
        """Takes a request; `reply` is called once with its answer, perhaps before this returns.

        The returned task must be closed when the connection ends; None means that everything is
        done.
        """
        waiting = self.waiting
        self.now = now  # `advance`, without the call: this is the path of every request
        if waiting.timers.due(now):
            self._run(now, FEW_AT_ONCE)
        # Most nodes have no rules and no quotas; this saves a call for every request.
        is_plain = not (self.faults.rules or self.quotas.is_on)
        answer = (dispatch.handled if is_plain else dispatch.answer)(self, request)
        if not isinstance(answer, GeneratorType):
            reply(answer)  # type: ignore[arg-type]  # what is no generator is an answer, which mypy cannot conclude
            if waiting.ready:
                self._run(now, FEW_AT_ONCE)
            if self.logs.failures:
                self._take_failures()
            return None
        task = waiting.start(answer, reply, lambda failure: reply(DISCONNECT))
        self._run(now, FEW_AT_ONCE)
        if self.logs.failures:
            self._take_failures()
        return task if task.alive else None

    def begin(self, steps: Wait[Answer], reply: Callable[[Answer], None], now: int) -> HandlerTask:
        """Takes a request that must be decoded first, in steps that take turns with handlers."""
        self.advance(now)
        return self.waiting.start(steps, reply, lambda failure: reply(DISCONNECT))

    def dispatch(self, request: Request[Any]) -> Answer | Wait[Answer]:
        """The answer to the request inside an Envelope, as quotas and the fault rules have it."""
        return dispatch.answer(self, request, is_forwarded=True)

    def handle(self, request: Request[Any]) -> Answer | Wait[Answer]:
        """The answer to a request that this node sends to itself, as the fault rules have it."""
        return dispatch.answer(self, request)

    def tick(self, now: int) -> None:
        """Does what is due, and one slice of what gave way to others."""
        self.advance(now)
        if self.waiting.later:
            with all_kept():
                self.waiting.take_turn()
                self._run(now)
        else:
            self._run(now)
        if self.logs.failures:
            self._take_failures()

    @property
    def image(self) -> Image:
        """The committed metadata of the cluster."""
        return self.controller.image

    @property
    def broker_epoch(self) -> int:
        """The epoch of its broker's registration; -1 if it is not registered."""
        own = self.image.brokers.get(self.id)
        return -1 if own is None else own.epoch

    @property
    def is_open(self) -> bool:
        """Whether clients may connect: a broker that starts must be part of its cluster before."""
        return self.is_registered or self.lifecycle is None or self.lifecycle.is_open

    def _run(self, now: int, most: int | None = None) -> None:
        """Resumes the handlers that can continue. A fetch of the metadata log may have committed
        records, which let others continue."""
        self.waiting.run(now, most)
        while self.controller.has_unpublished and self.halted is None:
            self.controller.publish_committed()
            self.waiting.run(now)

    def _take_failures(self, *, is_stopping: bool = False) -> None:
        """Takes the log directories offline that have failed, or reports those that a stop could
        not write to."""
        from .replica import log_dir_failures

        (log_dir_failures.report_failures_of_stop if is_stopping else log_dir_failures.handle_log_dir_failures)(self)

    def close(self, now: int) -> None:
        """Shuts down cleanly; the node is not called afterwards."""
        self.advance(now)
        self.abandon()
        self.logs.close(now, self.broker_epoch)
        if self.logs.failures:
            self._take_failures(is_stopping=True)

    def abandon(self) -> None:
        """Drops the work that is under way; the node is not called afterwards."""
        if "snapshot_generator" in vars(self):
            self.snapshot_generator.abandon()

    def next_deadline(self) -> int | None:
        """When `tick` is due next (ms), if nothing else happens."""
        return self.now if self.waiting.is_busy else self.waiting.timers.next_deadline()

    def __repr__(self) -> str:
        return f"node {self.id} of cluster {self.cluster_id} at {self.advertised[0]}:{self.advertised[1]}"
