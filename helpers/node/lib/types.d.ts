import type { Client } from './index';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, also one that waits. */
  signal?: AbortSignal;
}

export type Data = string | Uint8Array | null;

/** A record of a topic. */
export interface TopicRecord {
  topic: string;
  partition: number;
  offset: number;
  /** Milliseconds since the epoch. */
  timestamp: number;
  key: Buffer | null;
  value: Buffer | null;
  headers: [string, Buffer | null][];
}

/** A request that a client sent. */
export interface Request {
  number: number;
  /** Milliseconds since the epoch. */
  time: number;
  /** Milliseconds; null while the request waits. */
  took: number | null;
  broker: number;
  clientId: string | null;
  principal: string;
  api: string;
  version: number;
  correlationId: number;
  outcome: 'waiting' | 'answered' | 'disconnected' | 'abandoned' | 'unanswered';
  rules: string[];
  errors: string[];
  size: number;
  answerSize: number | null;
  /** A line for a person; only of lastRequests. */
  text?: string;
  /** The decoded request; not of lastRequests. */
  request?: Record<string, any>;
  /** The decoded answer; not of lastRequests. */
  answer?: Record<string, any> | null;
}

/** A partition at one moment; null is what no broker that answers knows. */
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

export interface TopicDescription {
  name: string;
  id: string;
  isInternal: boolean;
  partitions: Record<number, PartitionState>;
  configs: Record<string, string>;
}

export interface Member {
  id: string;
  instanceId: string | null;
  clientId: string;
  host: string;
  assignment: [string, number][];
}

/** A group; `offsets` and `lags` are by topic and partition. */
export interface GroupDescription {
  id: string;
  type: 'classic' | 'consumer' | 'share' | 'streams';
  state: string;
  protocol: string;
  members: Member[];
  offsets: Record<string, Record<number, { offset: number; metadata: string }>>;
  lags: Record<string, Record<number, number>>;
}

export interface Transaction {
  id: string;
  state: string;
  producerId: number;
  producerEpoch: number;
  timeoutMs: number;
  startedMs: number | null;
  partitions: [string, number][];
}

export interface ClusterDescription {
  clusterId: string;
  controllerId: number;
  bootstrapServers: string;
  brokers: Record<number, { id: number; address: string; state: string; is_fenced: boolean }>;
  nowMs: number;
}

export interface Snapshot {
  topics: number;
  records: number;
  sizeBytes: number;
  takenMs: number;
}

/** A step of a scenario. `at` is in seconds after the scenario was applied. */
export interface StepOutcome {
  at: number;
  verb: string;
  state: 'pending' | 'done' | 'failed';
  problem: string | null;
}

/** A fault rule. `hits` and `spent` are those of the moment when the verb returned. */
export class Rule {
  private constructor();
  readonly id: number;
  readonly rule: Record<string, any> | string;
  readonly hits: number;
  readonly spent: boolean;
  /** Disarms the rule, and lets go on what it holds. */
  remove(options?: CallOptions): Promise<void>;
  /** Resolves once the rule was applied, `hits` times if that is given. */
  wait(options?: { hits?: number; timeout?: number } & CallOptions): Promise<void>;
}

export type { Client };
