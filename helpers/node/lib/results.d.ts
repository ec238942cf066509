// Made by helpers/generate; do not edit.

import type { ApiName, ErrorName, GroupState, GroupType, TransactionState, BrokerState, RequestOutcome, StepState, RuleAction, LintRule } from './names';
import type { Header, TopicPartition } from './types';

/** A record as a consumer would get it. `timestamp` is in ms since the epoch, -1 for none. */
export interface TopicRecord {
  topic: string;
  partition: number;
  offset: number;
  timestamp: number;
  key: Buffer | null;
  value: Buffer | null;
  headers: Header[];
}

/**
 * One part of a request: the fields that do not apply are null. `topic` is its id as text if its
 * name is not known. `error` is the name of an error, or null.
 */
export interface RequestPart {
  topic: string | null;
  partition: number | null;
  group: string | null;
  transactionalId: string | null;
  error: ErrorName | null;
}

/**
 * A partition at one moment. `leader`, `replicas` and `isr` are ids of brokers; `leader` is null
 * if there is none. The rest is null if no broker that answers leads the partition:
 * `startOffset` of the log, `endOffset` (where the leader appends next), `highWatermark` (what
 * consumers read up to), `lastStableOffset` (with read_committed), and `epochs`, the leader
 * epochs in the log, each with its start offset, oldest first.
 */
export interface PartitionState {
  topic: string;
  partition: number;
  leader: number | null;
  leaderEpoch: number;
  replicas: number[];
  isr: number[];
  startOffset: number | null;
  endOffset: number | null;
  highWatermark: number | null;
  lastStableOffset: number | null;
  epochs: Record<number, number> | null;
}

/** A topic. `configs` are those that were set for it, `partitions` are by index. */
export interface TopicDescription {
  name: string;
  id: string;
  isInternal: boolean;
  partitions: Record<number, PartitionState>;
  configs: Record<string, string>;
}

/**
 * A committed offset. `offset`: the offset of the next record to read. `metadata`: the text that
 * the client stored with it.
 */
export interface Offset {
  offset: number;
  metadata: string;
}

/**
 * A member of a group. `id`: the member id. `instanceId`: `group.instance.id` of a static
 * member, or null. `clientId`: `client.id` of its client. `host`: the address of its client.
 * `assignment`: the partitions that it has now, as pairs of a topic and a partition. `epoch`:
 * its member epoch; null in a classic group.
 */
export interface Member {
  id: string;
  instanceId: string | null;
  clientId: string;
  host: string;
  assignment: TopicPartition[];
  epoch: number | null;
}

/**
 * A group. `id`: the group id. `type`: classic, consumer, share or streams. `state`: Kafka's
 * name, such as Stable or Empty. `protocol`: the name of its assignor; empty if it has none.
 * `members`: its members. `offsets`: the committed offsets by topic and partition; of a share
 * group, the start offsets of its share partitions. `lags`: how many offsets there are from the
 * committed offset to the high watermark, or from the log start offset without a commit, for
 * each partition that has a leader and a committed offset or a member. While no member has a
 * partition, other partitions of topics with a commit count, too, if they have records. Of a
 * share group, what is not delivered yet. `epoch`: the group epoch; null for a classic group.
 * `assignmentEpoch`: the epoch of the assignment; null for a classic group.
 */
export interface GroupDescription {
  id: string;
  type: GroupType;
  state: GroupState;
  protocol: string;
  members: Member[];
  offsets: Record<string, Record<number, Offset>>;
  lags: Record<string, Record<number, number>>;
  epoch: number | null;
  assignmentEpoch: number | null;
}

/**
 * A transactional id and its latest transaction. `id`: the transactional id. `state`: Kafka's
 * name, such as Ongoing, CompleteCommit or Empty. `producerId`: the id of its latest producer.
 * `producerEpoch`: the epoch of this producer. `timeoutMs`: `transaction.timeout.ms` of this
 * producer. `startedMs`: when the open transaction began, in ms since the epoch; null if none is
 * open. `partitions`: the partitions that have no marker yet, as pairs of a topic and a
 * partition.
 */
export interface Transaction {
  id: string;
  state: TransactionState;
  producerId: number;
  producerEpoch: number;
  timeoutMs: number;
  startedMs: number | null;
  partitions: TopicPartition[];
}

/**
 * A broker. `address` is HOST:PORT on its first listener. `state` is running, paused, isolated
 * or stopped. `isFenced` is what the controller's metadata say.
 */
export interface BrokerDescription {
  id: number;
  address: string;
  state: BrokerState;
  isFenced: boolean;
}

/**
 * A cluster. `controllerId` is the node id of the controller, `nowMs` the time of its clock (ms
 * since the epoch).
 */
export interface ClusterDescription {
  clusterId: string;
  controllerId: number;
  bootstrapServers: string;
  brokers: Record<number, BrokerDescription>;
  nowMs: number;
}

/**
 * A step of a scenario: when it is called first, in seconds since the scenario was applied,
 * which verb, and its state: `pending` as long as calls are to come, `done`, or `failed` with
 * the error of the latest call that failed. `calls` is how many times it was called. A step that
 * waits for records is at 0.
 */
export interface StepOutcome {
  at: number;
  verb: string;
  state: StepState;
  problem: string | null;
  calls: number;
}

/** The requests of one client, about one topic or group if the rule is about these. */
export interface LintCase {
  clientId: string | null;
  sentence: string;
}

/**
 * A habit of clients. `rule` is a name in the table of rules; `sentence` says what the client
 * did; `requests` show it, oldest first. Where clients did the same with several topics or
 * groups, or several clients did the same, `cases` has each of them. `clientId` is null for
 * several clients.
 */
export interface LintFinding {
  rule: LintRule;
  clientId: string | null;
  sentence: string;
  requests: Request[];
  cases: LintCase[];
}

/**
 * A request that a client sent. `took` is in milliseconds, null while the request waits.
 * `request` and `answer` are in the form of Kafka's own JSON, null if they are not kept. Of the
 * last requests, without their contents, `text` is a line for a person; it is null elsewhere.
 */
export interface Request {
  number: number;
  time: number;
  took: number | null;
  broker: number;
  peer: string | null;
  clientId: string | null;
  principal: string;
  api: ApiName;
  version: number;
  correlationId: number;
  outcome: RequestOutcome;
  rules: RuleAction[];
  errors: ErrorName[];
  parts: RequestPart[];
  size: number;
  answerSize: number | null;
  records: number | null;
  recordBytes: number | null;
  request: Record<string, any> | null;
  answer: Record<string, any> | null;
  text: string | null;
}

/** What a snapshot holds, and the `name` by which the double keeps it. `restore` takes it back. */
export interface Snapshot {
  name: string;
  topics: number;
  records: number;
  sizeBytes: number;
  takenMs: number;
}
