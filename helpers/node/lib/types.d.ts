import type { Offset, TopicRecord } from './results';

/** Options of every call. */
export interface CallOptions {
  /** Ends the call, also one that waits. */
  signal?: AbortSignal;
}

/** An option that is evaluated here, and not by the program. */
export interface Filter<T> {
  /** Only those that it accepts are counted and returned. It may return a promise. */
  where?: (each: T) => boolean | Promise<boolean>;
}

export type Data = string | Uint8Array | Buffer | null;

/** An answer: fields as in Kafka's JSON, or the bytes of the body. */
export type Body = Record<string, any> | Uint8Array | Buffer;

/** The name and the value of a header. */
export type Header = [string, Buffer | null];

/** Headers to send: pairs, objects with `key` and `value`, or an object or a map by name. */
export type Headers = (readonly [string, Data] | { key: string; value: Data })[] | Record<string, Data> | Map<string, Data>;

/** A topic and the index of a partition. */
export type TopicPartition = [string, number];

/** A record to produce: a value, some fields, or one that was read. */
export type RecordLike =
  | Data
  | TopicRecord
  | { value?: Data; key?: Data; headers?: Headers; partition?: number | null; timestamp?: number | bigint | Date | null };

/** Offsets by topic and partition, or a map by `[topic, partition]`. */
export type Offsets =
  | Record<string, Record<number, number | bigint | Offset>>
  | Map<TopicPartition, number | bigint | Offset>;

/** The partitions of each member. */
export type Assignment =
  | Record<string, (TopicPartition | { topic: string; partition: number })[]>
  | Map<string, (TopicPartition | { topic: string; partition: number })[]>;

/** An ACL by its fields. */
export interface AclBinding {
  principal: string;
  operations: string | string[];
  resource: string;
  permission?: 'allow' | 'deny';
  host?: string;
}

/** A rule in its JSON form. */
export type RuleDefinition = Record<string, any>;

/** A fault rule. `hits` and `spent` are those of the moment when the verb returned. */
export class Rule {
  private constructor();
  readonly id: number;
  /** The rule in its JSON form; a sentence for one with a function of Python. */
  readonly rule: RuleDefinition | string;
  readonly hits: number;
  readonly spent: boolean;
  /** Disarms the rule, and releases everything that it holds. */
  remove(options?: CallOptions): Promise<void>;
  /** Resolves once the rule was applied, `hits` times if that is given. */
  wait(options?: { hits?: number; timeout?: number } & CallOptions): Promise<void>;
}
