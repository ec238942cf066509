import library from './index.js';

export const {
  AssertionError,
  CallError,
  Client,
  Double,
  KafkaDoubleError,
  KafkaError,
  Rule,
  StartError,
  TimeoutError,
  UsageError,
  connect,
  start,
} = library;
