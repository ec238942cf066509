// Made by helpers/generate; do not edit.

import type { ApiName, ErrorName, GroupState, TransactionState, LintRule, ClientLibrary } from './names';
import type { TopicRecord, PartitionState, TopicDescription, GroupDescription, Transaction, ClusterDescription, StepOutcome, LintFinding, Request, Snapshot } from './results';
import type { AclBinding, Assignment, Body, CallOptions, Data, Filter, Headers, Offsets, RecordLike, Rule, RuleDefinition } from './types';

/** Every optional parameter of a verb. */
export interface Parameters {
  /** `advance`: true or false. */
  advance?: boolean | null;
  /** `after`: true or false. */
  after?: boolean | null;
  /** `after_seconds`: a number of seconds from 0 to 86400. */
  afterSeconds?: number | null;
  /** `api`: the name of an API, or *. */
  api?: ApiName | '*' | null;
  /** `apis`: names of APIs. */
  apis?: ApiName[] | null;
  /** `before`: an offset. */
  before?: number | null;
  /** `both_ways`: true or false. */
  bothWays?: boolean | null;
  /** `broker`: the id of a broker, or a node id from 0. */
  broker?: number | null;
  /** `claims`: a mapping of claims to values. */
  claims?: Record<string, unknown> | null;
  /** `client`: the name of a client library. */
  client?: ClientLibrary | null;
  /** `client_id`: a text. */
  clientId?: string | null;
  /** `config`: an object with names and values. */
  config?: Record<string, unknown> | null;
  /** `connection_creation_rate`: a number of connections per second. */
  connectionCreationRate?: number | null;
  /** `consumer_byte_rate`: a number of bytes per second. */
  consumerByteRate?: number | null;
  /** `contents`: true or false. */
  contents?: boolean | null;
  /** `controller_mutation_rate`: a number of partitions per second. */
  controllerMutationRate?: number | null;
  /** `count`: a count from 1. */
  count?: number | null;
  /** `epoch`: an integer from 0. */
  epoch?: number | null;
  /** `error`: the name or the number of an error, true or false. */
  error?: ErrorName | number | boolean | null;
  /** `for_seconds`: a number of seconds from 0 to 86400. */
  forSeconds?: number | null;
  /** `gap`: a number of seconds from 0 to 86400. */
  gap?: number | null;
  /** `group`: a name, or a group's id. */
  group?: string | null;
  /** `header`: the name of a header, or headers with their values. */
  header?: string | Record<string, Data> | null;
  /** `headers`: pairs of a name and a value. */
  headers?: Headers | null;
  /** `hits`: a count from 1. */
  hits?: number | null;
  /** `how`: crc or bit. */
  how?: 'crc' | 'bit' | null;
  /** `ignore`: names of rules. */
  ignore?: LintRule[] | null;
  /** `internal`: true or false. */
  internal?: boolean | null;
  /** `ip`: an address. */
  ip?: string | null;
  /** `isolation`: read_uncommitted or read_committed. */
  isolation?: 'read_uncommitted' | 'read_committed' | null;
  /** `jitter`: a number of seconds from 0 to 86400. */
  jitter?: number | null;
  /** `key`: a text, a Buffer, or null. */
  key?: Data | null;
  /** `lag`: a number of records from 0. */
  lag?: number | null;
  /** `leader`: the id of a broker. */
  leader?: number | null;
  /** `lifetime_ms`: a number of milliseconds. */
  lifetimeMs?: number | null;
  /** `link`: a pair of two node ids, as [1, 2], where null is any node. */
  link?: [number | null, number | null] | null;
  /** `listener`: a listener's name, or the name of a listener. */
  listener?: string | null;
  /** `log_dir`: the path of a log directory. */
  logDir?: string | null;
  /** `mechanism`: the name of a SASL mechanism. */
  mechanism?: string | null;
  /** `member_id`: the id of a member, or the instance id of a static one. */
  memberId?: string | null;
  /** `members`: a count from 0. */
  members?: number | null;
  /** `message`: a text. */
  message?: string | null;
  /** `name`: a name of 1 to 249 characters. */
  name?: string | null;
  /** `offset`: an offset from 0. */
  offset?: number | null;
  /** `on`: append or read or flush. */
  on?: 'append' | 'read' | 'flush' | null;
  /** `on_call`: a count from 1. */
  onCall?: number | null;
  /** `partition`: an index from 0. */
  partition?: number | null;
  /** `partitions`: a number of partitions. */
  partitions?: number | null;
  /** `peers`: true or false. */
  peers?: boolean | null;
  /** `principal`: a type and a name, such as User:alice. */
  principal?: string | null;
  /** `probability`: a number from 0 to 1. */
  probability?: number | null;
  /** `producer_byte_rate`: a number of bytes per second. */
  producerByteRate?: number | null;
  /** `ready`: true or false. */
  ready?: boolean | null;
  /** `reassign`: true or false. */
  reassign?: boolean | null;
  /** `replication_factor`: a number of replicas. */
  replicationFactor?: number | null;
  /** `request_percentage`: a percentage of the time of one thread. */
  requestPercentage?: number | null;
  /** `seed`: an integer from 0. */
  seed?: number | null;
  /**
   * `since`: milliseconds since the epoch, or a request, or an offset from 0, records that were
   * read, or offsets by partition.
   */
  since?: number | Request | TopicRecord[] | Record<number, number> | null;
  /** `state`: the name of a state. */
  state?: GroupState | null;
  /** `timeout`: a number of seconds. */
  timeout?: number | null;
  /** `times`: a number of requests from 0, or a count from 1, or null for every time. */
  times?: number | null;
  /** `timestamp`: an integer, milliseconds since the epoch. */
  timestamp?: number | Date | null;
  /** `to`: the id of a broker. */
  to?: number | null;
  /** `topic`: a name, or a topic's name. */
  topic?: string | null;
  /** `transactional_id`: a name, or a text. */
  transactionalId?: string | null;
  /** `user`: the name of a user. */
  user?: string | null;
  /** `value`: a text, a Buffer, or null. */
  value?: Data | null;
  /** `version`: a version from 0. */
  version?: number | null;
  /** `when`: before or after. */
  when?: 'before' | 'after' | null;
}

export class Verbs {
  /**
   * The ACLs of the cluster, as texts. Raises KafkaError(SECURITY_DISABLED) if brokers do not
   * check ACLs.
   */
  acls(options?: CallOptions): Promise<string[]>;

  /**
   * Adds a broker to a cluster, on a free port, and returns its id: one more than the
   * controller's, or the next free one. It has no replicas until topics are created or partitions
   * are reassigned. `reset` removes it again; after a stop, `add_broker` gives the same id and
   * finds its data.
   */
  addBroker(options?: CallOptions): Promise<number>;

  /**
   * Lets time pass, and does everything that is due. Raises UsageError unless the clock is stepped
   * or frozen.
   */
  advance(seconds: number, options?: CallOptions): Promise<void>;

  /**
   * Arms a fault rule, or the rule of a handle once more. Raises UsageError when it could never
   * apply.
   */
  arm(rule: RuleDefinition | Rule, options?: CallOptions): Promise<Rule>;

  /** Asserts that no request matches, as in `of`. The AssertionError shows those that do. */
  assertNotSeen(options?: Pick<Parameters, 'apis' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'clientId' | 'principal' | 'broker' | 'error' | 'since'> & CallOptions): Promise<void>;

  /** Asserts that requests match, as in `of`: at least one, or exactly `times`. Returns them. */
  assertSeen(options?: Pick<Parameters, 'apis' | 'times' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'clientId' | 'principal' | 'broker' | 'error' | 'since'> & CallOptions): Promise<Request[]>;

  /** Lets so many bytes pass in a second, in each direction of each connection. */
  bandwidth(bytesPerSecond: number, options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'clientId' | 'principal' | 'listener' | 'broker' | 'link' | 'bothWays'> & CallOptions): Promise<Rule>;

  /**
   * A token of OAUTHBEARER for a user: with `oauthbearer="signed"` one of the issuer, else one
   * without a signature. `claims`, such as `{"aud": "other"}` or `{"scope": ["read"]}`, are added
   * and override those of every token. A negative lifetime makes a token that has expired.
   */
  bearerToken(user: string, options?: Pick<Parameters, 'lifetimeMs' | 'claims'> & CallOptions): Promise<string>;

  /** HOST:PORT of every broker on this listener. Raises UsageError for an unknown one. */
  bootstrap(listener: string, options?: CallOptions): Promise<string>;

  /** HOST:PORT of this broker on the listener with this name. */
  bootstrapOnBroker(broker: number, listener: string, options?: CallOptions): Promise<string>;

  /**
   * Elects the same leader of the partition again, and returns the new leader epoch. Clients that
   * send the old epoch are fenced, and refresh their metadata.
   */
  bumpEpoch(topic: string, partition: number, options?: CallOptions): Promise<number>;

  /**
   * Sets a field in the next answer of an API. `path` has the names of Kafka's JSON, as
   * `topics[0].partitions[*].leaderId`.
   */
  changeField(api: ApiName | '*', path: string, value: any, options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /** Removes the requests so far. */
  clearRequests(options?: CallOptions): Promise<void>;

  /**
   * Disarms every fault rule, including rules that other callers armed, and releases everything
   * that the rules hold.
   */
  clearRules(options?: CallOptions): Promise<void>;

  /**
   * The settings of a client, in the form of its library: confluent-kafka, kafka-python, aiokafka,
   * java, franz-go or kafkajs; or `generic`, a form for every other library. With SASL the client
   * logs in as `user`, by PLAIN or another `mechanism`; with SSL it shows a certificate of this
   * user. Its principal is `User:` and the name. With `contents` the settings have certificates in
   * place of names of files, for a client on another machine. `listener` is the listener that the
   * client connects to; the default is the first one that fits the user and the mechanism.
   */
  clientConfig(options?: Pick<Parameters, 'user' | 'client' | 'mechanism' | 'contents' | 'listener'> & CallOptions): Promise<Record<string, any>>;

  /**
   * Commits offsets for a group, which need not exist, as an admin client does. `offsets` are by
   * topic and partition: `{"orders": {"0": 5}}`, or those of a group in `groups`.
   */
  commitOffsets(group: string, offsets: Offsets, options?: CallOptions): Promise<void>;

  /**
   * Begins a new segment and compacts all segments before it, as the log cleaner does when it is
   * due. Segments that are compacted already are compacted again, so that tombstones that have
   * expired are removed. `min.compaction.lag.ms` and `delete.retention.ms` apply, and each replica
   * is compacted up to its own high watermark.
   */
  compact(topic: string, options?: Pick<Parameters, 'partition'> & CallOptions): Promise<void>;

  /**
   * Damages the first batch of each partition in the next answer to a Fetch: its CRC ("crc"), or
   * one bit of its records ("bit").
   */
  corruptRecords(options?: Pick<Parameters, 'how' | 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /**
   * Creates ACLs, as texts such as `User:alice allow READ,WRITE topic:orders*` or as AclBindings.
   * They apply from the next request on. `reset` restores the ACLs of the start.
   */
  createAcls(acls: (string | AclBinding)[], options?: CallOptions): Promise<void>;

  /**
   * Gives a topic more partitions: `partitions` is how many it has then. Clients notice them when
   * they refresh their metadata. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, INVALID_PARTITIONS
   * if it has as many already.
   */
  createPartitions(topic: string, partitions: number, options?: CallOptions): Promise<void>;

  /**
   * Creates a topic, with `default.replication.factor` unless another is given. Raises KafkaError
   * where an admin client would get an error, such as TOPIC_ALREADY_EXISTS.
   */
  createTopic(name: string, options?: Pick<Parameters, 'partitions' | 'config' | 'replicationFactor'> & CallOptions): Promise<void>;

  /** Sends the first bytes of the next answer of an API, and closes the connection. */
  cutFrame(api: ApiName | '*', bytes: number, options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /** Delays the next request to an API by a number of seconds of the broker's clock. */
  delay(api: ApiName | '*', seconds: number, options?: Pick<Parameters, 'when' | 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /** Deletes exactly these ACLs, and returns those of them that existed. */
  deleteAcls(acls: (string | AclBinding)[], options?: CallOptions): Promise<string[]>;

  /**
   * Deletes a group and its offsets. Raises KafkaError: NON_EMPTY_GROUP if it has members,
   * GROUP_ID_NOT_FOUND.
   */
  deleteGroup(group: string, options?: CallOptions): Promise<void>;

  /**
   * Deletes the records of a partition before this offset, or all, as DeleteRecords does, and
   * returns the first offset that is left. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION,
   * OFFSET_OUT_OF_RANGE.
   */
  deleteRecords(topic: string, partition: number, options?: Pick<Parameters, 'before'> & CallOptions): Promise<number>;

  /** Deletes a topic with its records. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION). */
  deleteTopic(name: string, options?: CallOptions): Promise<void>;

  /**
   * The id of the cluster, its controller, the time of its clock, and its brokers with their
   * addresses and states.
   */
  describeCluster(options?: CallOptions): Promise<ClusterDescription>;

  /** Closes the connection of the next request to an API, before or after the request is processed. */
  disconnect(api: ApiName | '*', options?: Pick<Parameters, 'after' | 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /**
   * Fails an "append", a "read" or a "flush" as a broken disk does (EIO). As in Kafka, the log
   * directory goes offline.
   */
  diskError(options?: Pick<Parameters, 'on' | 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'topic' | 'partition' | 'broker' | 'logDir'> & CallOptions): Promise<Rule>;

  /**
   * Fails appends to partitions as a full disk does (ENOSPC). As in Kafka, the log directory goes
   * offline.
   */
  diskFull(options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'topic' | 'partition' | 'broker' | 'logDir'> & CallOptions): Promise<Rule>;

  /**
   * Lets each flush take so many seconds of the broker's clock. Records that must be flushed
   * before they count (`flush.messages`) wait for it.
   */
  diskSlow(seconds: number, options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'topic' | 'partition' | 'broker' | 'logDir'> & CallOptions): Promise<Rule>;

  /**
   * Shuts a broker down in order, or every broker if none is named; a single broker, too. Its data
   * stays, in memory as well. Clients get connection refused, and no other process gets the port.
   * Does nothing if the broker is down.
   */
  down(options?: Pick<Parameters, 'broker'> & CallOptions): Promise<void>;

  /**
   * Processes the next request to an API, and does not answer it. The connection stays open, and
   * nothing else on it is answered.
   */
  dropAnswer(api: ApiName | '*', options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /** Forgets the snapshot with this name. Raises UsageError if there is none. */
  dropSnapshot(name: string, options?: CallOptions): Promise<void>;

  /**
   * Elects the preferred leaders, the first replicas, of all partitions, of a topic, or of one
   * partition, as `kafka-leader-election` does. Returns the new leaders, by topic and partition; a
   * partition that its preferred leader leads already is left out.
   */
  electLeaders(options?: Pick<Parameters, 'topic' | 'partition'> & CallOptions): Promise<Record<string, Record<number, number>>>;

  /**
   * The end offset of each partition, by index: the offset of the next record that a consumer will
   * read. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION), LEADER_NOT_AVAILABLE.
   */
  endOffsets(topic: string, options?: CallOptions): Promise<Record<number, number>>;

  /** The leader epochs in the partition's log, each with its start offset, oldest first. */
  epochs(topic: string, partition: number, options?: CallOptions): Promise<Record<number, number>>;

  /**
   * Removes a member from a group at once, as the end of its session does: the others rebalance,
   * and its next request is answered with UNKNOWN_MEMBER_ID. `member_id` may be the instance id of
   * a static member. `groups` has the members.
   */
  expireMember(group: string, memberId: string, options?: CallOptions): Promise<void>;

  /**
   * Ends the sessions of clients that logged in by SASL, as `connections.max.reauth.ms` does later
   * (KIP-368). `principal` limits this to one principal, such as `User:alice`. The broker closes
   * such a connection at its next request, unless the client authenticates again first. Returns
   * the number of connections.
   */
  expireSaslSessions(options?: Pick<Parameters, 'principal'> & CallOptions): Promise<number>;

  /**
   * Ends the session of a broker at once, as `broker.session.timeout.ms` does later: the
   * controller fences it, and other brokers lead its partitions. A broker that was killed can be
   * started at once then; one that runs is fenced until its next heartbeat.
   */
  expireSession(broker: number, options?: CallOptions): Promise<void>;

  /**
   * Aborts the open transaction of this id at once, as `transaction.timeout.ms` does later: its
   * producer is fenced. Raises KafkaError: TRANSACTIONAL_ID_NOT_FOUND, INVALID_TXN_STATE if no
   * transaction is open.
   */
  expireTransaction(transactionalId: string, options?: CallOptions): Promise<void>;

  /**
   * Answers the next request to an API with an error. A list of errors is a dialogue: the first
   * element is for the next request, the second for the one behind it, and so on; null is for a
   * request that is served as usual.
   */
  fail(api: ApiName | '*', error: ErrorName | number | (ErrorName | number | null)[], options?: Pick<Parameters, 'message' | 'when' | 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /**
   * Flushes a partition's log to the disk, as after `flush.ms`; returns the offset up to which the
   * leader's log is flushed. In memory, everything always is.
   */
  flush(topic: string, partition: number, options?: CallOptions): Promise<number>;

  /**
   * Stops the clock: nothing expires, and records that have no timestamp get the same one.
   * `advance` moves a frozen clock as a stepped one. Does nothing if the clock stands still.
   */
  freeze(options?: CallOptions): Promise<void>;

  /** The groups, by id: their state, members, committed offsets and lag. */
  groups(options?: CallOptions): Promise<Record<string, GroupDescription>>;

  /**
   * Neither reads nor answers anything on connections, and keeps them open, until the rule is
   * released. Then everything that was held goes on.
   */
  halfOpen(options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'clientId' | 'principal' | 'listener' | 'broker' | 'link' | 'bothWays'> & CallOptions): Promise<Rule>;

  /**
   * Appends a record of a transaction that no coordinator knows, and returns its producer id. The
   * transaction hangs: consumers with read_committed read nothing from it on, until an
   * administrator aborts it (`kafka-transactions abort`).
   */
  hangTransaction(topic: string, partition: number, options?: Pick<Parameters, 'value'> & CallOptions): Promise<number>;

  /**
   * Neither processes nor answers the next request to an API. The connection stays open, and
   * nothing else on it is answered.
   */
  ignore(api: ApiName | '*', options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /**
   * Cuts the broker off from the other brokers and the controller, also after a restart. Clients
   * still reach it.
   */
  isolateBroker(broker: number, options?: CallOptions): Promise<void>;

  /** The ids of the in-sync replicas. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION). */
  isr(topic: string, partition: number, options?: CallOptions): Promise<number[]>;

  /** Ends the isolation. */
  joinBroker(broker: number, options?: CallOptions): Promise<void>;

  /**
   * Ends the broker without notice, as `kill -9` does; its log stays for its next start. The
   * controller notices when the broker's session times out, after `broker.session.timeout.ms` (9
   * s).
   */
  killBroker(broker: number, options?: CallOptions): Promise<void>;

  /**
   * Lets bytes pass so many seconds of the broker's clock later, in each direction, and with
   * `jitter` up to so many seconds earlier or later than that. Their order stays.
   */
  latency(seconds: number, options?: Pick<Parameters, 'jitter' | 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'clientId' | 'principal' | 'listener' | 'broker' | 'link' | 'bothWays'> & CallOptions): Promise<Rule>;

  /** The id of the leader, or null. Raises KafkaError(UNKNOWN_TOPIC_OR_PARTITION). */
  leader(topic: string, partition: number, options?: CallOptions): Promise<number | null>;

  /** The epoch of the partition's leader, which the next batch carries. */
  leaderEpoch(topic: string, partition: number, options?: CallOptions): Promise<number>;

  /**
   * The habits of clients in `requests` that hurt in production, each with the requests that show
   * it. `ignore` has names of rules. Works after a stop too.
   */
  lint(options?: Pick<Parameters, 'ignore'> & CallOptions): Promise<LintFinding[]>;

  /**
   * Reports flushes as done without doing them. The writes that the flushes covered are lost when
   * the broker is killed.
   */
  loseFlushes(options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'topic' | 'partition' | 'broker' | 'logDir'> & CallOptions): Promise<Rule>;

  /**
   * Metrics of the snapshots of the cluster's metadata, by their names in Apache Kafka and
   * KIP-630; latencies are in ms. With several brokers these are the metrics of the controller;
   * `brokers[1].metrics` are those of a broker.
   */
  metrics(options?: CallOptions): Promise<Record<string, any>>;

  /**
   * Makes another broker the coordinator of a group: the leader of the group's partition of
   * __consumer_offsets. Returns the index of that partition.
   */
  moveCoordinator(group: string, to: number, options?: CallOptions): Promise<number>;

  /**
   * Elects another broker as leader of a partition, and returns the new leader epoch. Raises
   * KafkaError: REPLICA_NOT_AVAILABLE if that broker has no replica,
   * ELIGIBLE_LEADERS_NOT_AVAILABLE if it is not alive and in sync.
   */
  moveLeader(topic: string, partition: number, to: number, options?: CallOptions): Promise<number>;

  /**
   * Makes another broker the coordinator of a transactional id: the leader of its partition of
   * __transaction_state. Returns the index of that partition.
   */
  moveTransactionCoordinator(transactionalId: string, to: number, options?: CallOptions): Promise<number>;

  /** Answers the next request to an API with a frame that claims a size that it does not have. */
  oversizedFrame(api: ApiName | '*', bytes: number, options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /**
   * The leader, the replicas, the offsets and the epochs of a partition, at one moment. Raises
   * KafkaError(UNKNOWN_TOPIC_OR_PARTITION).
   */
  partition(topic: string, partition: number, options?: CallOptions): Promise<PartitionState>;

  /** Holds the next request to an API until the `release` of the handle. */
  pause(api: ApiName | '*', options?: Pick<Parameters, 'when' | 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /**
   * Pauses the broker, as SIGSTOP pauses a process: connections stay open, and no request is
   * answered. Raises UsageError if the broker does not run.
   */
  pauseBroker(broker: number, options?: CallOptions): Promise<void>;

  /**
   * Appends one record, and returns its offset. Text becomes UTF-8. `timestamp` is in ms since the
   * epoch; the default is the broker's time.
   */
  produce(topic: string, options?: Pick<Parameters, 'value' | 'key' | 'headers' | 'partition' | 'timestamp'> & CallOptions): Promise<number>;

  /**
   * Appends many records in batches, and returns how many. Each is a value, or a mapping with some
   * of `value`, `key`, `headers`, `partition` and `timestamp`, as the parameters of `produce`, or
   * a record from `records`, which keeps its timestamp. `partition` is for records that have none.
   */
  produceAll(topic: string, records: RecordLike[], options?: Pick<Parameters, 'partition'> & CallOptions): Promise<number>;

  /**
   * Begins to move the replicas of a partition to these brokers, as `kafka-reassign-partitions`
   * does; the first is the preferred leader. It ends when the new replicas are in sync; `topics`
   * has the replicas.
   */
  reassign(topic: string, partition: number, replicas: number[], options?: CallOptions): Promise<void>;

  /**
   * Lets a group with members rebalance, as if one had joined. Members notice it with their next
   * heartbeat.
   */
  rebalance(group: string, options?: CallOptions): Promise<void>;

  /**
   * The records of a topic, or of one partition, by partition and offset. `read_committed` leaves
   * out aborted records, and everything from the first open transaction on. `since` leaves out
   * what is before an offset, or what was read: records, or offsets by partition. `key`, `value`,
   * `header` and `offset` are what a record has; `header` is a name, or values by name.
   */
  records(topic: string, options?: Pick<Parameters, 'partition' | 'isolation' | 'since' | 'key' | 'value' | 'header' | 'offset'> & CallOptions): Promise<TopicRecord[]>;

  /** Resets each new connection at once. Connections that exist go on. */
  refuseConnections(options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'clientId' | 'principal' | 'listener' | 'broker' | 'link' | 'bothWays'> & CallOptions): Promise<Rule>;

  /**
   * Shuts a broker down in order and unregisters it. It must have no replicas; with `reassign`
   * true they are moved to the other brokers first. The id is not used again before a `reset`,
   * which brings a broker back that was there at the start.
   */
  removeBroker(broker: number, options?: Pick<Parameters, 'reassign'> & CallOptions): Promise<void>;

  /**
   * Removes every member from a group at once, as the ends of their sessions do, and returns how
   * many there were. Members that live join again. Raises KafkaError(GROUP_ID_NOT_FOUND).
   */
  removeMembers(group: string, options?: CallOptions): Promise<number>;

  /**
   * Removes all quotas of a user, of a client id, of both together, or of an `ip`; does nothing if
   * there are none.
   */
  removeQuota(options?: Pick<Parameters, 'user' | 'clientId' | 'ip'> & CallOptions): Promise<void>;

  /**
   * Disarms a rule, given by its handle or its id, and releases everything that the rule holds. A
   * second call for the same rule has no effect.
   */
  removeRule(rule: number | Rule, options?: CallOptions): Promise<void>;

  /**
   * Removes a user. Clients that are authenticated as this user stay so, as in Kafka, until
   * `expire_sasl_sessions` ends their sessions.
   */
  removeUser(user: string, options?: CallOptions): Promise<void>;

  /**
   * Tells what happened, as text: the last `count` requests, and earlier ones with an error or a
   * rule; the fault rules, and what came near those that nothing matched; brokers that do not
   * serve; topics with their offsets; groups with their lag; open transactions. It works while
   * brokers are down, and after a stop.
   */
  report(options?: Pick<Parameters, 'count'> & CallOptions): Promise<string>;

  /** The requests to these APIs (all, if none is given) that match every keyword. */
  requests(options?: Pick<Parameters, 'apis' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'clientId' | 'principal' | 'broker' | 'error' | 'since'> & CallOptions): Promise<Request[]>;

  /**
   * Restarts the cluster empty: without topics, groups, rules and requests, with every connection
   * closed, every broker running, and a clock that was frozen or scaled as it was at first. Ports
   * and cluster id stay, so clients that connect again find the empty cluster. Then the scenario
   * is applied again, if there is one. Clients that are members of a group learn that it
   * rebalances: their commits succeed, and are not kept, until they have joined again.
   */
  reset(options?: CallOptions): Promise<void>;

  /**
   * Resets each connection when so many bytes have passed on it since the rule was armed, in both
   * directions together.
   */
  resetAfter(bytes: number, options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'clientId' | 'principal' | 'listener' | 'broker' | 'link' | 'bothWays'> & CallOptions): Promise<Rule>;

  /**
   * Commits other offsets for a group: with `to="earliest"` the first offset of each partition,
   * with "latest" its end offset, or one given offset; if the log does not have it, the nearest
   * one. Returns the committed offsets. As for `kafka-consumer-groups --reset-offsets`, the group
   * must have no members.
   */
  resetOffsets(group: string, topic: string, to: 'earliest' | 'latest' | number, options?: Pick<Parameters, 'partition'> & CallOptions): Promise<Record<string, Record<number, number>>>;

  /**
   * Answers the next request to an API with this response, and does not process the request.
   * `body` is a response, or a mapping as in Kafka's JSON; fields that it lacks have their
   * default. Bytes are sent as they are, behind the header of the response. A list is a dialogue:
   * the first element is for the next request, the second for the one behind it, and so on. There
   * the name or the number of an error is that error, and null is for a request that is served as
   * usual.
   */
  respond(api: ApiName | '*', body: Body | (Body | ErrorName | number | null)[], options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /**
   * Restarts the cluster with the contents of a snapshot, given itself or by its name, as `reset`
   * restarts it empty: with every connection closed, every broker running, without rules and
   * requests, and a clock that was frozen or scaled as it was at first. Ports and cluster id stay.
   * The snapshot may be of another double with the same number of brokers. A scenario is not
   * applied again, and its steps end.
   */
  restore(snapshot: string | Snapshot, options?: CallOptions): Promise<void>;

  /** Ends the pause. */
  resumeBroker(broker: number, options?: CallOptions): Promise<void>;

  /**
   * Applies `retention.ms` and `retention.bytes` now, and returns the log start offset of each
   * partition. As in Kafka, whole segments are deleted.
   */
  retain(topic: string, options?: Pick<Parameters, 'partition'> & CallOptions): Promise<Record<number, number>>;

  /**
   * Closes the active segment of a partition's log and begins a new one, as after `segment.ms`;
   * returns its base offset. An empty segment stays.
   */
  roll(topic: string, partition: number, options?: CallOptions): Promise<number>;

  /** The armed rules, oldest first. A spent rule is not armed any more. */
  rules(options?: CallOptions): Promise<Rule[]>;

  /**
   * Makes the clock go `factor` times as fast as the machine's: with 10, a time-out of 45 s takes
   * 4.5 s. `factor` is from 0.000001 to 1000000; with 1 the clock is as fast as at first. A frozen
   * clock goes so fast when it goes on. Clients keep the machine's time, so a large factor ends
   * the sessions of members, and of brokers that cannot send their heartbeats as fast. Raises
   * UsageError for a stepped clock.
   */
  scale(factor: number, options?: CallOptions): Promise<void>;

  /**
   * The steps of the scenario since the last start or reset, each with its state: pending, done or
   * failed, with its error. Works after a stop too.
   */
  scenarioSteps(options?: CallOptions): Promise<StepOutcome[]>;

  /**
   * Assigns partitions to the members of a consumer group or a share group by hand, instead of the
   * coordinator. `assignment` has (topic, partition) pairs by member id, or by the instance id of
   * a static member; any other member gets none. It holds until the group rebalances again;
   * members reconcile with it as with any other.
   */
  setAssignment(group: string, assignment: Assignment, options?: CallOptions): Promise<void>;

  /**
   * Lets running brokers show another certificate to new connections: `valid`, `expired`,
   * `self-signed` or `wrong-host`. `reset` restores the certificate of the start.
   */
  setCertificate(certificate: 'valid' | 'expired' | 'self-signed' | 'wrong-host', options?: CallOptions): Promise<void>;

  /**
   * Subscribes to metrics that clients push (KIP-714): `metrics` are prefixes of their names or
   * `*`, `interval.ms` is the time between two pushes, and `match` has patterns of clients, such
   * as `client_id=shop.*`. An empty `config` removes the subscription.
   */
  setClientMetrics(name: string, config: Record<string, unknown>, options?: CallOptions): Promise<void>;

  /**
   * Sets quotas of a user, of a client id, or of both together; or `connection_creation_rate` of
   * an `ip`. `"<default>"` means every user, client id or `ip` without a quota of its own. Other
   * quotas of the same entity stay. A client beyond its quota is throttled as by Apache Kafka.
   */
  setQuota(options?: Pick<Parameters, 'user' | 'clientId' | 'ip' | 'producerByteRate' | 'consumerByteRate' | 'requestPercentage' | 'controllerMutationRate' | 'connectionCreationRate'> & CallOptions): Promise<void>;

  /**
   * Sets configs of a topic, and leaves the others: `{"retention.ms": 1000}`. A value of null
   * brings the default back. Raises KafkaError: UNKNOWN_TOPIC_OR_PARTITION, INVALID_CONFIG.
   */
  setTopicConfig(topic: string, config: Record<string, unknown>, options?: CallOptions): Promise<void>;

  /**
   * Adds a user, or changes the password of a user, for PLAIN, SCRAM-SHA-256 and SCRAM-SHA-512.
   * Clients that are authenticated stay so, until `expire_sasl_sessions` ends their sessions.
   * `reset` restores the users of the start.
   */
  setUser(user: string, password: string, options?: CallOptions): Promise<void>;

  /** Answers the next request to an API with a frame of the first bytes of the answer. */
  shortFrame(api: ApiName | '*', bytes: number, options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /** Lets bytes pass in pieces of at most `bytes`, each `gap` seconds after the one before it. */
  sliceFrames(bytes: number, options?: Pick<Parameters, 'gap' | 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'clientId' | 'principal' | 'listener' | 'broker' | 'link' | 'bothWays'> & CallOptions): Promise<Rule>;

  /** Closes connections so many seconds later than they would be closed. */
  slowClose(seconds: number, options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'clientId' | 'principal' | 'listener' | 'broker' | 'link' | 'bothWays'> & CallOptions): Promise<Rule>;

  /** Sends the next answer of an API slowly. */
  slowFrame(api: ApiName | '*', bytesPerSecond: number, options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /**
   * Returns the contents of the double at this moment, for `restore`: topics with their records
   * and configs, groups with their offsets, transactions, leaders and epochs, and everything else
   * in the metadata. It is in memory, outlives a stop, and may be restored any number of times.
   * Nothing changes for clients.
   */
  snapshot(options?: Pick<Parameters, 'name'> & CallOptions): Promise<Snapshot>;

  /** The snapshots that were taken with a name, by name. */
  snapshots(options?: CallOptions): Promise<Record<string, Snapshot>>;

  /** Answers the next request from the cluster's metadata of now. */
  staleMetadata(options?: Pick<Parameters, 'api' | 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /**
   * Starts the broker on its old log, behind the same port. As in Kafka 4.4, it joins the cluster
   * only after the session of its previous incarnation has timed out.
   */
  startBroker(broker: number, options?: CallOptions): Promise<void>;

  /**
   * Shuts the broker down in order: other brokers take over its partitions first, and confirm that
   * with their next heartbeat. As in Kafka this takes up to two seconds; a stepped clock moves by
   * as much.
   */
  stopBroker(broker: number, options?: CallOptions): Promise<void>;

  /**
   * The newest metrics that clients pushed (KIP-714), at most 10,000 values, oldest first. Works
   * after a stop too. Raises UsageError without `telemetry`.
   */
  telemetry(options?: CallOptions): Promise<any[]>;

  /**
   * Answers the next request to an API with this throttle time, and processes nothing on the
   * connection for so long (KIP-219).
   */
  throttle(api: ApiName | '*', seconds: number, options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;

  /**
   * The topics by name: the leaders, replicas, in-sync replicas and offsets of their partitions,
   * and the configs that were set. Internal topics are left out unless `internal` is true.
   */
  topics(options?: Pick<Parameters, 'internal'> & CallOptions): Promise<Record<string, TopicDescription>>;

  /** The transactional ids, each with its state, producer and partitions. */
  transactions(options?: CallOptions): Promise<Record<string, Transaction>>;

  /**
   * Removes the records from `offset` on, in whole batches, as if a broker that lacks them was
   * elected; returns the new leader epoch, which begins there. Raises KafkaError:
   * OFFSET_OUT_OF_RANGE if the log has no such offset, UNKNOWN_TOPIC_OR_PARTITION.
   */
  truncate(topic: string, partition: number, offset: number, options?: CallOptions): Promise<number>;

  /**
   * Elects a live replica that is not in sync as leader of a partition without a leader: the
   * replica on broker `to`, or else the first. Returns the id of its broker. Records that the
   * replica lacks are lost.
   */
  uncleanElection(topic: string, partition: number, options?: Pick<Parameters, 'to'> & CallOptions): Promise<number>;

  /**
   * Lets a frozen clock go on, from the time at which it stands. Does nothing if it runs. Raises
   * UsageError for a stepped clock.
   */
  unfreeze(options?: CallOptions): Promise<void>;

  /**
   * The rules that have matched nothing since the start or the last reset, oldest first. Removed
   * rules are included. The latest 1000 rules are remembered.
   */
  unusedRules(options?: CallOptions): Promise<any[]>;

  /**
   * Starts a broker that is down, or every broker, on its data and behind the same port, and waits
   * until it serves clients. Does nothing if the broker runs. Fault rules and `requests` stay.
   */
  up(options?: Pick<Parameters, 'broker'> & CallOptions): Promise<void>;

  /**
   * Waits until a broker that was started is part of the cluster. That can take as long as the
   * session of its previous incarnation.
   */
  waitForBroker(broker: number, options?: Pick<Parameters, 'timeout' | 'advance'> & CallOptions): Promise<void>;

  /**
   * Waits until a group is in this state (Kafka's name, such as Stable), has so many members, and
   * is at most `lag` records behind. `lag` 0 waits until everything was consumed and committed: a
   * partition of a member, and without members one of a topic with a commit, counts as unread as
   * long as it has no committed offset. With `ready` it waits until the group is Stable and its
   * members get each record that is produced from now on: the client of each member has fetched
   * each of its partitions since it was assigned, so that it knows its position. Without a state,
   * it waits for any but Dead.
   */
  waitForGroup(group: string, options?: Pick<Parameters, 'state' | 'members' | 'lag' | 'ready' | 'timeout' | 'advance'> & CallOptions): Promise<GroupDescription>;

  /** Waits until these brokers, and no other ones, are the in-sync replicas of a partition. */
  waitForIsr(topic: string, partition: number, isr: number[], options?: Pick<Parameters, 'timeout' | 'advance'> & CallOptions): Promise<void>;

  /**
   * Waits until a partition has a leader, or this broker as leader, in this leader epoch or a
   * later one. Returns the id of the leader.
   */
  waitForLeader(topic: string, partition: number, options?: Pick<Parameters, 'leader' | 'epoch' | 'timeout' | 'advance'> & CallOptions): Promise<number>;

  /**
   * Waits until a topic, or one partition, has at least `count` records, and returns them all. The
   * topic need not exist yet. The filters are those of `records`.
   */
  waitForRecords(topic: string, options?: Pick<Parameters, 'count' | 'partition' | 'isolation' | 'timeout' | 'advance' | 'since' | 'key' | 'value' | 'header' | 'offset'> & Filter<TopicRecord> & CallOptions): Promise<TopicRecord[]>;

  /**
   * Waits until `count` requests of this API have arrived, and returns the last of them. Earlier
   * requests count, until `requests.clear`. The keywords are those of `requests.of`.
   */
  waitForRequest(api: ApiName, options?: Pick<Parameters, 'count' | 'timeout' | 'advance' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'clientId' | 'principal' | 'broker' | 'error' | 'since'> & CallOptions): Promise<Request>;

  /** Waits until a fault rule, given by its handle or its id, was applied so many times. */
  waitForRule(rule: number | Rule, options?: Pick<Parameters, 'hits' | 'timeout' | 'advance'> & CallOptions): Promise<void>;

  /** Waits until a topic exists, with this number of partitions if it is given. */
  waitForTopic(topic: string, options?: Pick<Parameters, 'partitions' | 'timeout' | 'advance'> & CallOptions): Promise<void>;

  /** Waits until a transactional id is in this state (Kafka's name, such as CompleteCommit). */
  waitForTransaction(transactionalId: string, state: TransactionState, options?: Pick<Parameters, 'timeout' | 'advance'> & CallOptions): Promise<Transaction>;

  /** Answers the next request to an API with a correlation id that is too large by 1. */
  wrongCorrelationId(api: ApiName | '*', options?: Pick<Parameters, 'times' | 'onCall' | 'probability' | 'seed' | 'afterSeconds' | 'forSeconds' | 'version' | 'topic' | 'partition' | 'group' | 'transactionalId' | 'memberId' | 'clientId' | 'principal' | 'mechanism' | 'listener' | 'broker' | 'peers'> & CallOptions): Promise<Rule>;
}
