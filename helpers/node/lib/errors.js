// What goes wrong, as classes.
'use strict';

/** Every error of this library. */
class KafkaDoubleError extends Error {
  constructor(message) {
    super(message);
    this.name = new.target.name;
  }
}

/** Kafka's error, with its code and its name. */
class KafkaError extends KafkaDoubleError {
  constructor({ message, code, name }) {
    super(message);
    this.code = code;
    this.errorName = name;
  }
}

/** A call that makes no sense. The message says what is allowed. */
class UsageError extends KafkaDoubleError {}

/** A wait that ended before its state was reached. The message says what there was. */
class TimeoutError extends KafkaDoubleError {}

/** An assertion that does not hold, such as that of assertSeen. */
class AssertionError extends KafkaDoubleError {}

/** Any other answer of the control plane, such as one without the right token. */
class CallError extends KafkaDoubleError {
  constructor(status, message) {
    super(`HTTP status ${status}: ${message}`);
    this.status = status;
  }
}

/** A program that was not found, or did not start. */
class StartError extends KafkaDoubleError {
  constructor(message, stderr = '') {
    super(stderr ? `${message}; its stderr:\n${stderr}` : message);
    this.stderr = stderr;
  }
}

const KINDS = { usage: UsageError, timeout: TimeoutError, assertion: AssertionError };

/** The error of an answer. */
function errorOf(status, text) {
  let problem;
  try {
    problem = JSON.parse(text).error;
  } catch {
    problem = undefined;
  }
  if (problem?.kind === 'kafka') return new KafkaError(problem);
  const Kind = KINDS[problem?.kind];
  return Kind ? new Kind(problem.message) : new CallError(status, problem?.message ?? text);
}

module.exports = {
  AssertionError, CallError, KafkaDoubleError, KafkaError, StartError, TimeoutError, UsageError, errorOf,
};
