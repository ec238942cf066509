import type { Request } from './results';
import type { CallOptions, Rule } from './types';
import { Verbs } from './verbs';

export * from './names';
export * from './results';
export * from './types';
export type { Parameters } from './verbs';

/** Calls the control plane of a kafkadouble: every verb is a method. */
export class Client extends Verbs {
  constructor(url: string, token?: string);
  readonly controlUrl: string;
  readonly token?: string;
  /** Calls any verb by its name, with parameters as the control plane has them. */
  call(verb: string, parameters?: Record<string, unknown>, options?: CallOptions): Promise<any>;
  /** The last requests of clients, at most `count` (20), oldest first. */
  lastRequests(count?: number): Promise<Request[]>;
  /** Runs the body of a test; if it fails, prints what happened on stderr before it throws. Refuses
   * a body while that of another test runs with this client. */
  reporting<T>(body: (kafka: this) => T | Promise<T>, count?: number): Promise<T>;
}

/** A cluster of one broker or more, in a process of its own. */
export class Double extends Client {
  private constructor();
  /** HOST:PORT of every broker, separated by commas. */
  readonly bootstrapServers: string;
  /** HOST:PORT of every broker. */
  readonly brokers: string[];
  /** The version of the program. */
  readonly version: string;
  /** The end of what the program wrote on stderr. */
  readonly stderr: string;
  /** Ends the program; resolves when it has ended. */
  stop(): Promise<void>;
}

export interface StartOptions {
  /**
   * The path of the program; else KAFKADOUBLE of the environment, else `kafkadouble` on the PATH or
   * in ~/.local/bin, else uv's `uvx` gets and runs it.
   */
  program?: string;
  /** The number of brokers (1). */
  brokers?: number;
  /** Topics with their numbers of partitions, or `2:3` for 2 partitions and 3 replicas; they exist again after a reset. */
  topics?: Record<string, number | `${number}:${number}`>;
  /** Settings of Kafka's broker. */
  settings?: Record<string, string | number | boolean>;
  /** The path of a scenario, with which the start and each reset begin. */
  scenario?: string;
  /** Whether time stands still until `advance` moves it. */
  stepped?: boolean;
  /** The protocol of the brokers; `clientConfig` has the settings of clients. */
  security?: 'SSL' | 'SASL_PLAINTEXT' | 'SASL_SSL';
  /** The users that can log in by SASL, each with a password. */
  users?: Record<string, string>;
  /** The tokens with which clients log in by OAUTHBEARER. */
  oauthbearer?: 'unsecured' | 'signed' | 'any';
  /** What brokers show with TLS. */
  certificate?: 'valid' | 'expired' | 'self-signed' | 'wrong-host';
  /** ACLs, such as `User:alice allow READ topic:orders*`; clients may then do only what one allows. */
  acls?: string[];
  /** Principals, such as `User:admin`, that may do everything. */
  superUsers?: string[];
  /** More arguments of `kafkadouble serve`. */
  arguments?: string[];
  /** Seconds that the start may take (30). */
  startTimeout?: number;
  signal?: AbortSignal;
}

/** Starts a kafkadouble; resolves once clients are accepted. It ends with this process. */
export function start(options?: StartOptions): Promise<Double>;

/** A client for a kafkadouble that runs already, such as one in a container. */
export function connect(url: string, options?: { token?: string }): Client;

export class KafkaDoubleError extends Error {}
/** Kafka's error. `errorName` is its name, such as NOT_LEADER_OR_FOLLOWER. */
export class KafkaError extends KafkaDoubleError {
  readonly code: number;
  readonly errorName: string;
}
export class UsageError extends KafkaDoubleError {}
export class TimeoutError extends KafkaDoubleError {}
export class AssertionError extends KafkaDoubleError {}
export class CallError extends KafkaDoubleError {
  readonly status: number;
}
export class StartError extends KafkaDoubleError {
  readonly stderr: string;
}
export { Rule };
