"""Every verb of a double, and its other members. Made by `python -m codegen`; do not edit."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from kafkadouble.common.on_first_use import OnFirstUse

if TYPE_CHECKING:
    from collections.abc import Callable
    from collections.abc import Collection
    from collections.abc import Iterable
    from collections.abc import Mapping
    from collections.abc import Sequence
    from os import PathLike
    from typing import Unpack
    from kafkadouble.access.acls import AclBinding
    from kafkadouble.brokers.cluster_description import ClusterDescription
    from kafkadouble.brokers.snapshot import Snapshot
    from kafkadouble.common.literals import CertificateKind
    from kafkadouble.common.literals import ClientLibrary
    from kafkadouble.common.literals import GroupStateName
    from kafkadouble.common.literals import IsolationLevel
    from kafkadouble.common.literals import RecordFormat
    from kafkadouble.common.literals import TransactionStateName
    from kafkadouble.common.step_outcome import StepOutcome
    from kafkadouble.coordinators.group_values import Committed
    from kafkadouble.coordinators.group_values import Group
    from kafkadouble.coordinators.group_values import TopicPartition
    from kafkadouble.coordinators.transactions import Transaction
    from kafkadouble.host.host import Host
    from kafkadouble.lint.finding import LintFinding
    from kafkadouble.records.read_records import ReadRecord
    from kafkadouble.records.record_filter import RecordNarrowing
    from kafkadouble.records.seeding import HeadersLike
    from kafkadouble.records.seeding import Text
    from kafkadouble.rules.rule_handle import RuleHandle
    from kafkadouble.seen.request_filter import RequestNarrowing
    from kafkadouble.seen.telemetry import TelemetryValue
    from kafkadouble.server.faults.actions import Action
    from kafkadouble.server.faults.narrowing import DiskNarrowing
    from kafkadouble.server.faults.narrowing import LineNarrowing
    from kafkadouble.server.faults.narrowing import Narrowing
    from kafkadouble.server.faults.rule import Rule
    from kafkadouble.server.tracing.history import SeenRequest
    from kafkadouble.topics.partition_state import PartitionState
    from kafkadouble.topics.topic_description import TopicDescription
    from kafkadouble.verbs.cluster import addresses as _addresses
    from kafkadouble.verbs.cluster import brokers as _brokers
    from kafkadouble.verbs.cluster import clock as _clock
    from kafkadouble.verbs.cluster import double as _double
    from kafkadouble.verbs.cluster import lint as _lint
    from kafkadouble.verbs.cluster import logs as _logs
    from kafkadouble.verbs.cluster import metrics as _metrics
    from kafkadouble.verbs.cluster import quotas as _quotas
    from kafkadouble.verbs.cluster import reporting as _reporting
    from kafkadouble.verbs.cluster import security as _security
    from kafkadouble.verbs.cluster import snapshots as _snapshots
    from kafkadouble.verbs.content import administration as _administration
    from kafkadouble.verbs.content import groups as _groups
    from kafkadouble.verbs.content import partitions as _partitions
    from kafkadouble.verbs.content import topics as _topics
    from kafkadouble.verbs.content import transactions as _transactions
    from kafkadouble.verbs.content import waiting as _waiting
    from kafkadouble.verbs.content.topics import RecordLike
    from kafkadouble.verbs.faults import arming as _arming
    from kafkadouble.verbs.faults import connection_faults as _connection_faults
    from kafkadouble.verbs.faults import disk_faults as _disk_faults
    from kafkadouble.verbs.faults import faults as _faults
    from kafkadouble.verbs.faults.faults import Body
else:
    _addresses = OnFirstUse("kafkadouble.verbs.cluster.addresses")
    _brokers = OnFirstUse("kafkadouble.verbs.cluster.brokers")
    _clock = OnFirstUse("kafkadouble.verbs.cluster.clock")
    _double = OnFirstUse("kafkadouble.verbs.cluster.double")
    _lint = OnFirstUse("kafkadouble.verbs.cluster.lint")
    _logs = OnFirstUse("kafkadouble.verbs.cluster.logs")
    _metrics = OnFirstUse("kafkadouble.verbs.cluster.metrics")
    _quotas = OnFirstUse("kafkadouble.verbs.cluster.quotas")
    _reporting = OnFirstUse("kafkadouble.verbs.cluster.reporting")
    _security = OnFirstUse("kafkadouble.verbs.cluster.security")
    _snapshots = OnFirstUse("kafkadouble.verbs.cluster.snapshots")
    _administration = OnFirstUse("kafkadouble.verbs.content.administration")
    _groups = OnFirstUse("kafkadouble.verbs.content.groups")
    _partitions = OnFirstUse("kafkadouble.verbs.content.partitions")
    _topics = OnFirstUse("kafkadouble.verbs.content.topics")
    _transactions = OnFirstUse("kafkadouble.verbs.content.transactions")
    _waiting = OnFirstUse("kafkadouble.verbs.content.waiting")
    _arming = OnFirstUse("kafkadouble.verbs.faults.arming")
    _connection_faults = OnFirstUse("kafkadouble.verbs.faults.connection_faults")
    _disk_faults = OnFirstUse("kafkadouble.verbs.faults.disk_faults")
    _faults = OnFirstUse("kafkadouble.verbs.faults.faults")

ROOMS = (
    "kafkadouble.verbs.cluster.addresses",
    "kafkadouble.verbs.cluster.brokers",
    "kafkadouble.verbs.cluster.clock",
    "kafkadouble.verbs.cluster.double",
    "kafkadouble.verbs.cluster.lint",
    "kafkadouble.verbs.cluster.logs",
    "kafkadouble.verbs.cluster.metrics",
    "kafkadouble.verbs.cluster.quotas",
    "kafkadouble.verbs.cluster.reporting",
    "kafkadouble.verbs.cluster.security",
    "kafkadouble.verbs.cluster.snapshots",
    "kafkadouble.verbs.content.administration",
    "kafkadouble.verbs.content.groups",
    "kafkadouble.verbs.content.partitions",
    "kafkadouble.verbs.content.topics",
    "kafkadouble.verbs.content.transactions",
    "kafkadouble.verbs.content.waiting",
    "kafkadouble.verbs.faults.arming",
    "kafkadouble.verbs.faults.connection_faults",
    "kafkadouble.verbs.faults.disk_faults",
    "kafkadouble.verbs.faults.faults",
)
"""The modules with the members."""


class DoubleVerbs:
    """The members of a double that are functions of its host."""

    _double_host: Host

    @property
    def port(self) -> int:
        """The port of the first broker, on its first listener."""
        return _addresses.port(self._double_host)

    @property
    def bootstrap_servers(self) -> str:
        """HOST:PORT of every broker, separated by commas, for the setting `bootstrap.servers` of a
        client. With several listeners, these are the addresses of the first."""
        return _addresses.bootstrap_servers(self._double_host)

    def bootstrap(self, listener: str) -> str:
        """HOST:PORT of every broker on this listener. Raises UsageError for an unknown one."""
        return _addresses.bootstrap(self._double_host, listener)

    @property
    def controller_bootstrap_servers(self) -> str:
        """HOST:PORT of the controller, for the setting `controller.quorum.bootstrap.servers` of a
        node that joins. Raises UsageError without `controller_port`."""
        return _addresses.controller_bootstrap_servers(self._double_host)

    def describe_cluster(self) -> ClusterDescription:
        """The id of the cluster, its controller, the time of its clock, and its brokers with their
        addresses and states."""
        return _brokers.describe_cluster(self._double_host)

    def down(self, broker: int | None=None) -> None:
        """Shuts a broker down in order, or every broker if none is named; a single broker, too. Its
        data stays, in memory as well. Clients get connection refused, and no other process gets the
        port. Does nothing if the broker is down.

        With several brokers this takes up to two seconds, as `brokers[1].stop()` does.
        """
        _brokers.down(self._double_host, broker)

    def up(self, broker: int | None=None) -> None:
        """Starts a broker that is down, or every broker, on its data and behind the same port, and
        waits until it serves clients. Does nothing if the broker runs. Fault rules and `requests`
        stay.

        The session of its previous incarnation ends at once; `brokers[1].start()` waits for that as
        Kafka does. An isolated broker is started, and not waited for. Raises
        KafkaError(REQUEST_TIMED_OUT) if a broker is not part of the cluster after 60 s.
        """
        _brokers.up(self._double_host, broker)

    def add_broker(self) -> int:
        """Adds a broker to a cluster, on a free port, and returns its id: one more than the
        controller's, or the next free one. It has no replicas until topics are created or
        partitions are reassigned. `reset` removes it again; after a stop, `add_broker` gives the
        same id and finds its data.

        Raises UsageError for a KafkaDouble with a single broker.
        """
        return _brokers.add_broker(self._double_host)

    def remove_broker(self, broker: int, reassign: bool=False) -> None:
        """Shuts a broker down in order and unregisters it. It must have no replicas; with
        `reassign=True` they are moved to the other brokers first. The id is not used again before
        a `reset`, which brings a broker back that was there at the start.

        Raises UsageError if it has replicas, or if they find no other broker.
        """
        _brokers.remove_broker(self._double_host, broker, reassign)

    def expire_session(self, broker: int) -> None:
        """Ends the session of a broker at once, as `broker.session.timeout.ms` does later: the
        controller fences it, and other brokers lead its partitions. A broker that was killed can
        be started at once then; one that runs is fenced until its next heartbeat.

        Raises KafkaError(BROKER_ID_NOT_REGISTERED).
        """
        _brokers.expire_session(self._double_host, broker)

    def reassign(self, topic: str, partition: int, replicas: Sequence[int]) -> None:
        """Begins to move the replicas of a partition to these brokers, as
        `kafka-reassign-partitions` does; the first is the preferred leader. It ends when the new
        replicas are in sync; `topics()` has the replicas.

        Raises KafkaError: INVALID_REPLICA_ASSIGNMENT, UNKNOWN_TOPIC_OR_PARTITION.
        """
        _brokers.reassign(self._double_host, topic, partition, replicas)

    def advance(self, seconds: float) -> None:
        """Lets time pass, and does everything that is due. Raises UsageError unless the clock is
        stepped or frozen."""
        _clock.advance(self._double_host, seconds)

    def freeze(self) -> None:
        """Stops the clock: nothing expires, and records that have no timestamp get the same one.
        `advance` moves a frozen clock as a stepped one. Does nothing if the clock stands still."""
        _clock.freeze(self._double_host)

    def unfreeze(self) -> None:
        """Lets a frozen clock go on, from the time at which it stands. Does nothing if it runs.
        Raises UsageError for a stepped clock."""
        _clock.unfreeze(self._double_host)

    def scale(self, factor: float) -> None:
        """Makes the clock go `factor` times as fast as the machine's: with 10, a time-out of 45 s
        takes 4.5 s. `factor` is from 0.000001 to 1000000; with 1 the clock is as fast as at first.
        A frozen clock goes so fast when it goes on. Clients keep the machine's time, so a large
        factor ends the sessions of members, and of brokers that cannot send their heartbeats as
        fast. Raises UsageError for a stepped clock."""
        _clock.scale(self._double_host, factor)

    def reset(self) -> None:
        """Restarts the cluster empty: without topics, groups, rules and requests, with every
        connection closed, every broker running, and a clock that was frozen or scaled as it was at
        first. Ports and cluster id stay, so clients that connect again find the empty cluster. Then
        the scenario is applied again, if there is one. Clients that are members of a group learn
        that it rebalances: their commits succeed, and are not kept, until they have joined
        again."""
        _double.reset(self._double_host)

    @property
    def scenario_steps(self) -> list[StepOutcome]:
        """The steps of the scenario since the last start or reset, each with its state: pending,
        done or failed, with its error. Works after a stop too."""
        return _double.scenario_steps(self._double_host)

    def lint(self, ignore: Iterable[str]=()) -> list[LintFinding]:
        """The habits of clients in `requests` that hurt in production, each with the requests that
        show it. `ignore` has names of rules. Works after a stop too.

        With a stepped clock, the rules about times find nothing.
        """
        return _lint.lint(self._double_host, ignore)

    def roll(self, topic: str, partition: int) -> int:
        """Closes the active segment of a partition's log and begins a new one, as after
        `segment.ms`; returns its base offset. An empty segment stays.

        Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
        """
        return _logs.roll(self._double_host, topic, partition)

    def retain(self, topic: str, partition: int | None=None) -> dict[int, int]:
        """Applies `retention.ms` and `retention.bytes` now, and returns the log start offset of
        each partition. As in Kafka, whole segments are deleted.

        Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
        """
        return _logs.retain(self._double_host, topic, partition)

    def compact(self, topic: str, partition: int | None=None) -> None:
        """Begins a new segment and compacts all segments before it, as the log cleaner does when it
        is due. Segments that are compacted already are compacted again, so that tombstones that
        have expired are removed. `min.compaction.lag.ms` and `delete.retention.ms` apply, and each
        replica is compacted up to its own high watermark.

        Raises UsageError for a topic without `cleanup.policy=compact`, and
        KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
        """
        _logs.compact(self._double_host, topic, partition)

    def flush(self, topic: str, partition: int) -> int:
        """Flushes a partition's log to the disk, as after `flush.ms`; returns the offset up to
        which the leader's log is flushed. In memory, everything always is.

        Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, KAFKA_STORAGE_ERROR if a disk fails.
        """
        return _logs.flush(self._double_host, topic, partition)

    @property
    def metrics(self) -> dict[str, Any]:
        """Metrics of the snapshots of the cluster's metadata, by their names in Apache Kafka and
        KIP-630; latencies are in ms. With several brokers these are the metrics of the controller;
        `brokers[1].metrics` are those of a broker."""
        return _metrics.metrics(self._double_host)

    def set_client_metrics(self, name: str, config: Mapping[str, object]) -> None:
        """Subscribes to metrics that clients push (KIP-714): `metrics` are prefixes of their names
        or `*`, `interval.ms` is the time between two pushes, and `match` has patterns of clients,
        such as `client_id=shop.*`. An empty `config` removes the subscription.

        Clients push only with `telemetry=True`. Raises KafkaError for what Kafka refuses.
        """
        _metrics.set_client_metrics(self._double_host, name, config)

    @property
    def telemetry(self) -> list[TelemetryValue]:
        """The newest metrics that clients pushed (KIP-714), at most 10,000 values, oldest first.
        Works after a stop too. Raises UsageError without `telemetry`."""
        return _metrics.telemetry(self._double_host)

    def set_quota(self, user: str | None=None, client_id: str | None=None, ip: str | None=None, producer_byte_rate: float | None=None, consumer_byte_rate: float | None=None, request_percentage: float | None=None, controller_mutation_rate: float | None=None, connection_creation_rate: float | None=None) -> None:
        """Sets quotas of a user, of a client id, or of both together; or `connection_creation_rate`
        of an `ip`. `"<default>"` means every user, client id or `ip` without a quota of its own.
        Other quotas of the same entity stay. A client beyond its quota is throttled as by Apache
        Kafka.

        A client without authentication is the user ANONYMOUS. Rates are per second. Raises
        KafkaError(INVALID_REQUEST) for a value that Kafka refuses.
        """
        _quotas.set_quota(self._double_host, user, client_id, ip, producer_byte_rate, consumer_byte_rate, request_percentage, controller_mutation_rate, connection_creation_rate)

    def remove_quota(self, user: str | None=None, client_id: str | None=None, ip: str | None=None) -> None:
        """Removes all quotas of a user, of a client id, of both together, or of an `ip`; does
        nothing if there are none."""
        _quotas.remove_quota(self._double_host, user, client_id, ip)

    def report(self, count: int=15) -> str:
        """Tells what happened, as text: the last `count` requests, and earlier ones with an error
        or a rule; the fault rules, and what came near those that nothing matched; brokers that do
        not serve; topics with their offsets; groups with their lag; open transactions. It works
        while brokers are down, and after a stop."""
        return _reporting.report(self._double_host, count)

    def client_config(self, user: str | None=None, client: ClientLibrary='confluent-kafka', mechanism: str | None=None, contents: bool=False, listener: str | None=None) -> dict[str, Any]:
        """The settings of a client, in the form of its library: confluent-kafka, kafka-python,
        aiokafka, java, franz-go or kafkajs; or `generic`, a form for every other library. With
        SASL the client logs in as `user`, by PLAIN or another `mechanism`; with SSL it shows a
        certificate of this user. Its principal is `User:` and the name. With `contents` the
        settings have certificates in place of names of files, for a client on another machine.
        `listener` is the listener that the client connects to; the default is the first one that
        fits the user and the mechanism.

        Raises UsageError for a user without `security`, or one that there is not, and for an
        unknown listener.
        """
        return _security.client_config(self._double_host, user, client, mechanism, contents, listener)

    @property
    def token_errors(self) -> list[BaseException]:
        """The exceptions of the function of `oauthbearer`, at most 100. Each refused a token."""
        return _security.token_errors(self._double_host)

    @property
    def token_endpoint(self) -> str:
        """The URL where clients get a token by the name and the secret of a client (the grant
        `client_credentials` of OAuth 2.0), as `bearer_token` makes them. Raises UsageError without
        `oauthbearer`, and without the extra `kafkadouble[control]`."""
        return _security.token_endpoint(self._double_host)

    def bearer_token(self, user: str, lifetime_ms: int=3600000, claims: Mapping[str, Any] | None=None) -> str:
        """A token of OAUTHBEARER for a user: with `oauthbearer="signed"` one of the issuer, else
        one without a signature. `claims`, such as `{"aud": "other"}` or `{"scope": ["read"]}`, are
        added and override those of every token. A negative lifetime makes a token that has expired.

        Raises UsageError without `oauthbearer`.
        """
        return _security.bearer_token(self._double_host, user, lifetime_ms, claims)

    @property
    def token_keys(self) -> dict[str, Any]:
        """The JWK set of the issuer. Raises UsageError without `oauthbearer="signed"`."""
        return _security.token_keys(self._double_host)

    def is_client(self, client: str, secret: str) -> bool:
        """Whether a client gets a token for this secret: any, unless it is a user, whose password
        it is then."""
        return _security.is_client(self._double_host, client, secret)

    def set_user(self, user: str, password: str) -> None:
        """Adds a user, or changes the password of a user, for PLAIN, SCRAM-SHA-256 and
        SCRAM-SHA-512. Clients that are authenticated stay so, until `expire_sasl_sessions` ends
        their sessions. `reset` restores the users of the start.

        A broker that does not run keeps its users of PLAIN. Raises UsageError without SASL.
        """
        _security.set_user(self._double_host, user, password)

    def remove_user(self, user: str) -> None:
        """Removes a user. Clients that are authenticated as this user stay so, as in Kafka, until
        `expire_sasl_sessions` ends their sessions.

        Raises UsageError without SASL, and for a user that there is not.
        """
        _security.remove_user(self._double_host, user)

    @property
    def acls(self) -> list[str]:
        """The ACLs of the cluster, as texts. Raises KafkaError(SECURITY_DISABLED) if brokers do not
        check ACLs."""
        return _security.acls(self._double_host)

    def create_acls(self, acls: Iterable[AclBinding | str]) -> None:
        """Creates ACLs, as texts such as `User:alice allow READ,WRITE topic:orders*` or as
        AclBindings. They apply from the next request on. `reset` restores the ACLs of the start.

        Raises KafkaError(SECURITY_DISABLED) if brokers do not check ACLs: give `acls=[]`.
        """
        _security.create_acls(self._double_host, acls)

    def delete_acls(self, acls: Iterable[AclBinding | str]) -> list[str]:
        """Deletes exactly these ACLs, and returns those of them that existed.

        Raises KafkaError(SECURITY_DISABLED) if brokers do not check ACLs.
        """
        return _security.delete_acls(self._double_host, acls)

    def expire_sasl_sessions(self, principal: str | None=None) -> int:
        """Ends the sessions of clients that logged in by SASL, as `connections.max.reauth.ms` does
        later (KIP-368). `principal` limits this to one principal, such as `User:alice`. The broker
        closes such a connection at its next request, unless the client authenticates again first.
        Returns the number of connections."""
        return _security.expire_sasl_sessions(self._double_host, principal)

    def set_certificate(self, certificate: CertificateKind) -> None:
        """Lets running brokers show another certificate to new connections: `valid`, `expired`,
        `self-signed` or `wrong-host`. `reset` restores the certificate of the start.

        Raises UsageError without TLS.
        """
        _security.set_certificate(self._double_host, certificate)

    def snapshot(self, name: str | None=None) -> Snapshot:
        """Returns the contents of the double at this moment, for `restore`: topics with their
        records and configs, groups with their offsets, transactions, leaders and epochs, and
        everything else in the metadata. It is in memory, outlives a stop, and may be restored any
        number of times. Nothing changes for clients.

        With a name, the double keeps the snapshot, in place of an earlier one with this name, and
        `restore` finds it by the name.

        Raises UsageError while nodes of other processes are part of the cluster, and for a
        seventeenth name.
        """
        return _snapshots.snapshot(self._double_host, name)

    @property
    def snapshots(self) -> dict[str, Snapshot]:
        """The snapshots that were taken with a name, by name."""
        return _snapshots.snapshots(self._double_host)

    def drop_snapshot(self, name: str) -> None:
        """Forgets the snapshot with this name. Raises UsageError if there is none."""
        _snapshots.drop_snapshot(self._double_host, name)

    def restore(self, snapshot: Snapshot | str) -> None:
        """Restarts the cluster with the contents of a snapshot, given itself or by its name, as
        `reset` restarts it empty: with every connection closed, every broker running, without rules
        and requests, and a clock that was frozen or scaled as it was at first. Ports and cluster id
        stay. The snapshot may be of another double with the same number of brokers. A scenario is
        not applied again, and its steps end.

        Raises UsageError for a snapshot of other brokers, or of data directories where this double
        is in memory; KafkaError(REQUEST_TIMED_OUT) if the brokers have not caught up after 60 s.
        """
        _snapshots.restore(self._double_host, snapshot)

    def create_partitions(self, topic: str, partitions: int) -> None:
        """Gives a topic more partitions: `partitions` is how many it has then. Clients notice them
        when they refresh their metadata. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION,
        INVALID_PARTITIONS if it has as many already."""
        _administration.create_partitions(self._double_host, topic, partitions)

    def set_topic_config(self, topic: str, config: Mapping[str, object]) -> None:
        """Sets configs of a topic, and leaves the others: `{"retention.ms": 1000}`. A value of None
        brings the default back. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, INVALID_CONFIG."""
        _administration.set_topic_config(self._double_host, topic, config)

    def delete_records(self, topic: str, partition: int, before: int | None=None) -> int:
        """Deletes the records of a partition before this offset, or all, as DeleteRecords does, and
        returns the first offset that is left. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION,
        OFFSET_OUT_OF_RANGE."""
        return _administration.delete_records(self._double_host, topic, partition, before)

    def remove_members(self, group: str) -> int:
        """Removes every member from a group at once, as the ends of their sessions do, and returns
        how many there were. Members that live join again. Raises KafkaError(GROUP_ID_NOT_FOUND)."""
        return _administration.remove_members(self._double_host, group)

    def groups(self) -> dict[str, Group]:
        """The groups, by id: their state, members, committed offsets and lag."""
        return _groups.groups(self._double_host)

    def move_coordinator(self, group: str, to: int) -> int:
        """Makes another broker the coordinator of a group: the leader of the group's partition of
        __consumer_offsets. Returns the index of that partition."""
        return _groups.move_coordinator(self._double_host, group, to)

    def commit_offsets(self, group: str, offsets: Mapping[TopicPartition, int | Committed]) -> None:
        """Commits offsets for a group, which need not exist, as an admin client does. `offsets` are
        by topic and partition: `{("orders", 0): 5}`, or those of a group in `groups()`.

        Raises KafkaError: UNKNOWN_MEMBER_ID for a group with members, UNKNOWN_TOPIC_OR_PARTITION.
        """
        _groups.commit_offsets(self._double_host, group, offsets)

    def reset_offsets(self, group: str, topic: str, to: str | int, partition: int | None=None) -> dict[TopicPartition, int]:
        """Commits other offsets for a group: with `to="earliest"` the first offset of each
        partition, with "latest" its end offset, or one given offset; if the log does not have it,
        the nearest one. Returns the committed offsets. As for `kafka-consumer-groups
        --reset-offsets`, the group must have no members.

        Raises KafkaError as `commit_offsets`.
        """
        return _groups.reset_offsets(self._double_host, group, topic, to, partition)

    def delete_group(self, group: str) -> None:
        """Deletes a group and its offsets. Raises KafkaError: NON_EMPTY_GROUP if it has members,
        GROUP_ID_NOT_FOUND."""
        _groups.delete_group(self._double_host, group)

    def expire_member(self, group: str, member_id: str) -> None:
        """Removes a member from a group at once, as the end of its session does: the others
        rebalance, and its next request is answered with UNKNOWN_MEMBER_ID. `member_id` may be the
        instance id of a static member. `groups()` has the members.

        Raises KafkaError: GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID.
        """
        _groups.expire_member(self._double_host, group, member_id)

    def rebalance(self, group: str) -> None:
        """Lets a group with members rebalance, as if one had joined. Members notice it with their
        next heartbeat.

        Raises KafkaError: GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID for a group without members.
        """
        _groups.rebalance(self._double_host, group)

    def set_assignment(self, group: str, assignment: Mapping[str, Collection[TopicPartition]]) -> None:
        """Assigns partitions to the members of a consumer group or a share group by hand, instead
        of the coordinator. `assignment` has (topic, partition) pairs by member id, or by the
        instance id of a static member; any other member gets none. It holds until the group
        rebalances again; members reconcile with it as with any other.

        Raises KafkaError: GROUP_ID_NOT_FOUND, UNKNOWN_MEMBER_ID, UNKNOWN_TOPIC_OR_PARTITION,
        INVALID_REQUEST for a classic group, whose leader assigns, and for a streams group.
        """
        _groups.set_assignment(self._double_host, group, assignment)

    def partition(self, topic: str, partition: int) -> PartitionState:
        """The leader, the replicas, the offsets and the epochs of a partition, at one moment.
        Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION)."""
        return _partitions.partition(self._double_host, topic, partition)

    def leader(self, topic: str, partition: int) -> int | None:
        """The id of the leader, or None. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION)."""
        return _partitions.leader(self._double_host, topic, partition)

    def isr(self, topic: str, partition: int) -> list[int]:
        """The ids of the in-sync replicas. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION)."""
        return _partitions.isr(self._double_host, topic, partition)

    def move_leader(self, topic: str, partition: int, to: int) -> int:
        """Elects another broker as leader of a partition, and returns the new leader epoch. Raises
        KafkaError: REPLICA_NOT_AVAILABLE if that broker has no replica,
        ELIGIBLE_LEADERS_NOT_AVAILABLE if it is not alive and in sync."""
        return _partitions.move_leader(self._double_host, topic, partition, to)

    def elect_leaders(self, topic: str | None=None, partition: int | None=None) -> dict[TopicPartition, int]:
        """Elects the preferred leaders, the first replicas, of all partitions, of a topic, or of
        one partition, as `kafka-leader-election` does. Returns the new leaders, by topic and
        partition; a partition that its preferred leader leads already is left out.

        Raises KafkaError: PREFERRED_LEADER_NOT_AVAILABLE if one is not alive and in sync,
        UNKNOWN_TOPIC_OR_PARTITION; the other partitions have their leaders then.
        """
        return _partitions.elect_leaders(self._double_host, topic, partition)

    def unclean_election(self, topic: str, partition: int, to: int | None=None) -> int:
        """Elects a live replica that is not in sync as leader of a partition without a leader: the
        replica on broker `to`, or else the first. Returns the id of its broker. Records that the
        replica lacks are lost.

        Raises KafkaError: ELECTION_NOT_NEEDED if a broker leads, ELIGIBLE_LEADERS_NOT_AVAILABLE if
        no replica, or not `to`, is alive, REPLICA_NOT_AVAILABLE if `to` has no replica.
        """
        return _partitions.unclean_election(self._double_host, topic, partition, to)

    def bump_epoch(self, topic: str, partition: int) -> int:
        """Elects the same leader of the partition again, and returns the new leader epoch. Clients
        that send the old epoch are fenced, and refresh their metadata.

        Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
        """
        return _partitions.bump_epoch(self._double_host, topic, partition)

    def truncate(self, topic: str, partition: int, offset: int) -> int:
        """Removes the records from `offset` on, in whole batches, as if a broker that lacks them
        was elected; returns the new leader epoch, which begins there. Raises KafkaError:
        OFFSET_OUT_OF_RANGE if the log has no such offset, UNKNOWN_TOPIC_OR_PARTITION."""
        return _partitions.truncate(self._double_host, topic, partition, offset)

    def leader_epoch(self, topic: str, partition: int) -> int:
        """The epoch of the partition's leader, which the next batch carries."""
        return _partitions.leader_epoch(self._double_host, topic, partition)

    def epochs(self, topic: str, partition: int) -> dict[int, int]:
        """The leader epochs in the partition's log, each with its start offset, oldest first."""
        return _partitions.epochs(self._double_host, topic, partition)

    def create_topic(self, name: str, partitions: int=1, config: Mapping[str, object] | None=None, replication_factor: int | None=None) -> None:
        """Creates a topic, with `default.replication.factor` unless another is given. Raises
        KafkaError where an admin client would get an error, such as TOPIC_ALREADY_EXISTS."""
        _topics.create_topic(self._double_host, name, partitions, config, replication_factor)

    def delete_topic(self, name: str) -> None:
        """Deletes a topic with its records. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION)."""
        _topics.delete_topic(self._double_host, name)

    def produce(self, topic: str, value: str | bytes | None=None, key: str | bytes | None=None, headers: HeadersLike=(), partition: int | None=None, timestamp: int | None=None) -> int:
        """Appends one record, and returns its offset. Text becomes UTF-8. `timestamp` is in ms
        since the epoch; the default is the broker's time.

        Without `partition` the key decides, as in Kafka's producer; without a key the partitions
        take turns. A missing topic is created if `auto.create.topics.enable` is on. Raises
        KafkaError if the record is refused.
        """
        return _topics.produce(self._double_host, topic, value, key, headers, partition, timestamp)

    def produce_all(self, topic: str, records: Iterable[RecordLike], partition: int | None=None) -> int:
        """Appends many records in batches, and returns how many. Each is a value, or a mapping with
        some of `value`, `key`, `headers`, `partition` and `timestamp`, as the parameters of
        `produce`, or a record from `records`, which keeps its timestamp. `partition` is for records
        that have none.

        Raises UsageError for a wrong record and KafkaError for one that the broker refuses. Both
        name it by its number, from 1; the records before it are appended.
        """
        return _topics.produce_all(self._double_host, topic, records, partition)

    def produce_file(self, topic: str, path: str | PathLike[str], format: RecordFormat | None=None, partition: int | None=None) -> int:
        """Appends a record for each line of a file, and returns how many. With the format `json` a
        line is an object with some of `value`, `key`, `headers`, `partition` and `timestamp`; bytes
        that are no text are `{"base64": "..."}`. With `text` a line is a value. Without a format it
        is `json` for *.json, *.jsonl and *.ndjson, and otherwise `text`.

        Raises OSError if the file cannot be read, and as `produce_all` with the number of the line.
        """
        return _topics.produce_file(self._double_host, topic, path, format, partition)

    def topics(self, internal: bool=False) -> dict[str, TopicDescription]:
        """The topics by name: the leaders, replicas, in-sync replicas and offsets of their
        partitions, and the configs that were set. Internal topics are left out unless `internal` is
        True."""
        return _topics.topics(self._double_host, internal)

    def end_offsets(self, topic: str) -> dict[int, int]:
        """The end offset of each partition, by index: the offset of the next record that a consumer
        will read. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION), LEADER_NOT_AVAILABLE."""
        return _topics.end_offsets(self._double_host, topic)

    def records(self, topic: str, partition: int | None=None, isolation: IsolationLevel='read_uncommitted', **narrowing: Unpack[RecordNarrowing]) -> list[ReadRecord]:
        """The records of a topic, or of one partition, by partition and offset. `read_committed`
        leaves out aborted records, and everything from the first open transaction on. `since`
        leaves out what is before an offset, or what was read: records, or offsets by partition.
        `key`, `value`, `header` and `offset` are what a record has; `header` is a name, or values
        by name.

        Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
        """
        return _topics.records(self._double_host, topic, partition, isolation, **narrowing)

    def transactions(self) -> dict[str, Transaction]:
        """The transactional ids, each with its state, producer and partitions."""
        return _transactions.transactions(self._double_host)

    def expire_transaction(self, transactional_id: str) -> None:
        """Aborts the open transaction of this id at once, as `transaction.timeout.ms` does later:
        its producer is fenced. Raises KafkaError: TRANSACTIONAL_ID_NOT_FOUND, INVALID_TXN_STATE if
        no transaction is open."""
        _transactions.expire_transaction(self._double_host, transactional_id)

    def move_transaction_coordinator(self, transactional_id: str, to: int) -> int:
        """Makes another broker the coordinator of a transactional id: the leader of its partition
        of __transaction_state. Returns the index of that partition."""
        return _transactions.move_transaction_coordinator(self._double_host, transactional_id, to)

    def hang_transaction(self, topic: str, partition: int, value: Text=b'') -> int:
        """Appends a record of a transaction that no coordinator knows, and returns its producer id.
        The transaction hangs: consumers with read_committed read nothing from it on, until an
        administrator aborts it (`kafka-transactions abort`)."""
        return _transactions.hang_transaction(self._double_host, topic, partition, value)

    def wait_for_records(self, topic: str, count: int=1, *, partition: int | None=None, isolation: IsolationLevel='read_uncommitted', where: Callable[[ReadRecord], bool] | None=None, timeout: float=10, advance: bool=False, **narrowing: Unpack[RecordNarrowing]) -> list[ReadRecord]:
        """Waits until a topic, or one partition, has at least `count` records, and returns them
        all. The topic need not exist yet. The filters are those of `records`. Only records that
        `where` accepts are counted; it is called on the thread of the broker, once for each record,
        and again after an election of a leader."""
        return _waiting.wait_for_records(self._double_host, topic, count, partition=partition, isolation=isolation, where=where, timeout=timeout, advance=advance, **narrowing)

    def wait_for_topic(self, topic: str, partitions: int | None=None, *, timeout: float=10, advance: bool=False) -> None:
        """Waits until a topic exists, with this number of partitions if it is given."""
        _waiting.wait_for_topic(self._double_host, topic, partitions, timeout=timeout, advance=advance)

    def wait_for_leader(self, topic: str, partition: int, leader: int | None=None, *, epoch: int | None=None, timeout: float=10, advance: bool=False) -> int:
        """Waits until a partition has a leader, or this broker as leader, in this leader epoch or a
        later one. Returns the id of the leader."""
        return _waiting.wait_for_leader(self._double_host, topic, partition, leader, epoch=epoch, timeout=timeout, advance=advance)

    def wait_for_isr(self, topic: str, partition: int, isr: Collection[int], *, timeout: float=10, advance: bool=False) -> None:
        """Waits until these brokers, and no other ones, are the in-sync replicas of a partition."""
        _waiting.wait_for_isr(self._double_host, topic, partition, isr, timeout=timeout, advance=advance)

    def wait_for_broker(self, broker: int, *, timeout: float=30, advance: bool=False) -> None:
        """Waits until a broker that was started is part of the cluster. That can take as long as
        the session of its previous incarnation."""
        _waiting.wait_for_broker(self._double_host, broker, timeout=timeout, advance=advance)

    def wait_for_group(self, group: str, state: GroupStateName | None=None, *, members: int | None=None, lag: int | None=None, ready: bool=False, timeout: float=10, advance: bool=False) -> Group:
        """Waits until a group is in this state (Kafka's name, such as Stable), has so many members,
        and is at most `lag` records behind. `lag=0` waits until everything was consumed and
        committed: a partition of a member, and without members one of a topic with a commit, counts
        as unread as long as it has no committed offset. With `ready` it waits until the group
        is Stable and its members get each record that is produced from now on: the client of each
        member has fetched each of its partitions since it was assigned, so that it knows its
        position. Without a state, it waits for any but Dead."""
        return _waiting.wait_for_group(self._double_host, group, state, members=members, lag=lag, ready=ready, timeout=timeout, advance=advance)

    def wait_for_transaction(self, transactional_id: str, state: TransactionStateName, *, timeout: float=10, advance: bool=False) -> Transaction:
        """Waits until a transactional id is in this state (Kafka's name, such as
        CompleteCommit)."""
        return _waiting.wait_for_transaction(self._double_host, transactional_id, state, timeout=timeout, advance=advance)

    def wait_for_rule(self, rule: RuleHandle | int, hits: int=1, *, timeout: float=10, advance: bool=False) -> None:
        """Waits until a fault rule, given by its handle or its id, was applied so many times."""
        _waiting.wait_for_rule(self._double_host, rule, hits, timeout=timeout, advance=advance)

    def wait_for_request(self, api: str, count: int=1, *, timeout: float=10, advance: bool=False, **narrowing: Unpack[RequestNarrowing]) -> SeenRequest:
        """Waits until `count` requests of this API have arrived, and returns the last of them.
        Earlier requests count, until `requests.clear()`. The keywords are those of
        `requests.of`."""
        return _waiting.wait_for_request(self._double_host, api, count, timeout=timeout, advance=advance, **narrowing)

    def arm(self, rule: Rule | RuleHandle) -> RuleHandle:
        """Arms a fault rule, or the rule of a handle once more. Raises UsageError when it could never
        apply."""
        return _arming.arm(self._double_host, rule)

    @property
    def rules(self) -> list[RuleHandle]:
        """The armed rules, oldest first. A spent rule is not armed any more."""
        return _arming.rules(self._double_host)

    def remove_rule(self, rule: RuleHandle | int) -> None:
        """Disarms a rule, given by its handle or its id, and releases everything that the rule holds. A
        second call for the same rule has no effect."""
        _arming.remove_rule(self._double_host, rule)

    def clear_rules(self) -> None:
        """Disarms every fault rule, including rules that other callers armed, and releases everything
        that the rules hold."""
        _arming.clear_rules(self._double_host)

    @property
    def unused_rules(self) -> list[Rule]:
        """The rules that have matched nothing since the start or the last reset, oldest first. Removed
        rules are included. The latest 1000 rules are remembered."""
        return _arming.unused_rules(self._double_host)

    def refuse_connections(self, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Resets each new connection at once. Connections that exist go on."""
        return _connection_faults.refuse_connections(self._double_host, **more)

    def latency(self, seconds: float, *, jitter: float=0.0, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Lets bytes pass so many seconds of the broker's clock later, in each direction, and with
        `jitter` up to so many seconds earlier or later than that. Their order stays."""
        return _connection_faults.latency(self._double_host, seconds, jitter=jitter, **more)

    def bandwidth(self, bytes_per_second: int, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Lets so many bytes pass in a second, in each direction of each connection."""
        return _connection_faults.bandwidth(self._double_host, bytes_per_second, **more)

    def slice_frames(self, bytes: int, *, gap: float=0.0, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Lets bytes pass in pieces of at most `bytes`, each `gap` seconds after the one before
        it."""
        return _connection_faults.slice_frames(self._double_host, bytes, gap=gap, **more)

    def reset_after(self, bytes: int, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Resets each connection when so many bytes have passed on it since the rule was armed, in
        both directions together."""
        return _connection_faults.reset_after(self._double_host, bytes, **more)

    def half_open(self, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Neither reads nor answers anything on connections, and keeps them open, until the rule is
        released. Then everything that was held goes on."""
        return _connection_faults.half_open(self._double_host, **more)

    def slow_close(self, seconds: float, **more: Unpack[LineNarrowing]) -> RuleHandle:
        """Closes connections so many seconds later than they would be closed."""
        return _connection_faults.slow_close(self._double_host, seconds, **more)

    def disk_full(self, **more: Unpack[DiskNarrowing]) -> RuleHandle:
        """Fails appends to partitions as a full disk does (ENOSPC). As in Kafka, the log directory
        goes offline."""
        return _disk_faults.disk_full(self._double_host, **more)

    def disk_error(self, on: str='append', **more: Unpack[DiskNarrowing]) -> RuleHandle:
        """Fails an "append", a "read" or a "flush" as a broken disk does (EIO). As in Kafka, the
        log directory goes offline."""
        return _disk_faults.disk_error(self._double_host, on, **more)

    def disk_slow(self, seconds: float, **more: Unpack[DiskNarrowing]) -> RuleHandle:
        """Lets each flush take so many seconds of the broker's clock. Records that must be flushed
        before they count (`flush.messages`) wait for it."""
        return _disk_faults.disk_slow(self._double_host, seconds, **more)

    def lose_flushes(self, **more: Unpack[DiskNarrowing]) -> RuleHandle:
        """Reports flushes as done without doing them. The writes that the flushes covered are lost when
        the broker is killed."""
        return _disk_faults.lose_flushes(self._double_host, **more)

    def fail(self, api: str, error: str | int | Sequence[str | int | Action | None], *, message: str | None=None, when: str='before', **more: Unpack[Narrowing]) -> RuleHandle:
        """Answers the next request to an API with an error. A list of errors is a dialogue: the
        first element is for the next request, the second for the one behind it, and so on; None
        is for a request that is served as usual.

        `error` is Kafka's name or number of the error. `when` is "before" the request is processed,
        or "after". If the rule is narrowed to a topic or a partition, only that part of a request
        fails.
        """
        return _faults.fail(self._double_host, api, error, message=message, when=when, **more)

    def delay(self, api: str, seconds: float, *, when: str='before', **more: Unpack[Narrowing]) -> RuleHandle:
        """Delays the next request to an API by a number of seconds of the broker's clock."""
        return _faults.delay(self._double_host, api, seconds, when=when, **more)

    def pause(self, api: str, *, when: str='before', **more: Unpack[Narrowing]) -> RuleHandle:
        """Holds the next request to an API until the `release` of the handle."""
        return _faults.pause(self._double_host, api, when=when, **more)

    def disconnect(self, api: str, *, after: bool=False, **more: Unpack[Narrowing]) -> RuleHandle:
        """Closes the connection of the next request to an API, before or after the request is
        processed."""
        return _faults.disconnect(self._double_host, api, after=after, **more)

    def ignore(self, api: str, **more: Unpack[Narrowing]) -> RuleHandle:
        """Neither processes nor answers the next request to an API. The connection stays open, and
        nothing else on it is answered."""
        return _faults.ignore(self._double_host, api, **more)

    def drop_answer(self, api: str, **more: Unpack[Narrowing]) -> RuleHandle:
        """Processes the next request to an API, and does not answer it. The connection stays open,
        and nothing else on it is answered."""
        return _faults.drop_answer(self._double_host, api, **more)

    def throttle(self, api: str, seconds: float, **more: Unpack[Narrowing]) -> RuleHandle:
        """Answers the next request to an API with this throttle time, and processes nothing on the
        connection for so long (KIP-219)."""
        return _faults.throttle(self._double_host, api, seconds, **more)

    def respond(self, api: str, body: Body | Sequence[Body | str | int | Action | None], **more: Unpack[Narrowing]) -> RuleHandle:
        """Answers the next request to an API with this response, and does not process the request.
        `body` is a response, or a mapping as in Kafka's JSON; fields that it lacks have their
        default. Bytes are sent as they are, behind the header of the response. A list is a
        dialogue: the first element is for the next request, the second for the one behind it, and
        so on. There the name or the number of an error is that error, and None is for a request
        that is served as usual."""
        return _faults.respond(self._double_host, api, body, **more)

    def change_field(self, api: str, path: str, value: object, **more: Unpack[Narrowing]) -> RuleHandle:
        """Sets a field in the next answer of an API. `path` has the names of Kafka's JSON, as
        `topics[0].partitions[*].leaderId`."""
        return _faults.change_field(self._double_host, api, path, value, **more)

    def corrupt_records(self, *, how: str='crc', **more: Unpack[Narrowing]) -> RuleHandle:
        """Damages the first batch of each partition in the next answer to a Fetch: its CRC ("crc"),
        or one bit of its records ("bit")."""
        return _faults.corrupt_records(self._double_host, how=how, **more)

    def stale_metadata(self, api: str='Metadata', **more: Unpack[Narrowing]) -> RuleHandle:
        """Answers the next request from the cluster's metadata of now."""
        return _faults.stale_metadata(self._double_host, api, **more)

    def wrong_correlation_id(self, api: str, **more: Unpack[Narrowing]) -> RuleHandle:
        """Answers the next request to an API with a correlation id that is too large by 1."""
        return _faults.wrong_correlation_id(self._double_host, api, **more)

    def cut_frame(self, api: str, bytes: int, **more: Unpack[Narrowing]) -> RuleHandle:
        """Sends the first bytes of the next answer of an API, and closes the connection."""
        return _faults.cut_frame(self._double_host, api, bytes, **more)

    def short_frame(self, api: str, bytes: int, **more: Unpack[Narrowing]) -> RuleHandle:
        """Answers the next request to an API with a frame of the first bytes of the answer."""
        return _faults.short_frame(self._double_host, api, bytes, **more)

    def oversized_frame(self, api: str, bytes: int, **more: Unpack[Narrowing]) -> RuleHandle:
        """Answers the next request to an API with a frame that claims a size that it does not
        have."""
        return _faults.oversized_frame(self._double_host, api, bytes, **more)

    def slow_frame(self, api: str, bytes_per_second: int, **more: Unpack[Narrowing]) -> RuleHandle:
        """Sends the next answer of an API slowly."""
        return _faults.slow_frame(self._double_host, api, bytes_per_second, **more)

    def on(self, api: str, function: Callable[[SeenRequest], Any], **more: Unpack[Narrowing]) -> RuleHandle:
        """Calls a function with the next request to an API, on the thread of the broker. The
        function returns None to go on, an action such as `Delay(0.1)`, a response, or the bytes of
        one."""
        return _faults.on(self._double_host, api, function, **more)
