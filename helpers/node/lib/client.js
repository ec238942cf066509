// Calls of the control plane.
'use strict';

const http = require('node:http');

const { Verbs } = require('./verbs');
const { UsageError, errorOf } = require('./errors');
const { version } = require('../package.json');

/** Calls the control plane of a kafkadouble: every verb is a method. */
class Client extends Verbs {
  constructor(url, token) {
    super();
    this.controlUrl = url.replace(/\/+$/, '');
    this.token = token;
  }

  /** Calls any verb by its name, with parameters as the control plane has them. */
  async call(verb, parameters = {}, { signal } = {}) {
    const body = JSON.stringify(encoded(parameters));
    const { status, text } = await this._request('POST', `/verbs/${encodeURIComponent(verb)}`, body, signal);
    if (status === 200) return JSON.parse(text).result;
    const error = errorOf(status, text);
    if (status === 404 && error instanceof UsageError) error.message += await this._versions();
    throw error;
  }

  /** The last requests of clients, up to 1000, oldest first; `text` is a line for a person. */
  async lastRequests(count = 20) {
    const { requests } = await this._get(`/requests?limit=${count}`);
    return requests.map(camelKeys);
  }

  /** A text with the last requests, for the output of a failed test. */
  async report(count = 20) {
    const last = await this.lastRequests(count);
    if (last.length === 0) return 'kafkadouble: no client sent a request';
    return [`kafkadouble: the last requests (${last.length}):`, ...last.map((each) => `  ${each.text}`)].join('\n');
  }

  /** Runs the body of a test; if it fails, prints the last requests on stderr before it throws. */
  async reporting(body, count = 20) {
    try {
      return await body(this);
    } catch (failure) {
      console.error(await this.report(count).catch((problem) => `kafkadouble: no report: ${problem.message}`));
      throw failure;
    }
  }

  async _verb(verb, required, options = {}) {
    const { signal, ...optional } = options;
    const given = Object.entries(optional).map(([name, value]) => [snake(name), value]);
    const result = await this.call(verb, { ...required, ...Object.fromEntries(given) }, { signal });
    return this._converted(verb, result);
  }

  _converted(verb, result) {
    if (isRule(result)) return new Rule(this, result);
    if (Array.isArray(result) && verb === 'rules') return result.map((each) => new Rule(this, each));
    return decoded(result, verb);
  }

  async _versions() {
    const { version: program } = await this._get('/health').catch(() => ({}));
    return ` (program kafkadouble ${program}, library ${version}: upgrade the older one)`;
  }

  async _get(path) {
    const { status, text } = await this._request('GET', path);
    if (status !== 200) throw errorOf(status, text);
    return JSON.parse(text);
  }

  _request(method, path, body = '', signal = undefined) {
    const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
    if (this.token) headers.authorization = `Bearer ${this.token}`;
    return new Promise((resolve, reject) => {
      const request = http.request(this.controlUrl + path, { method, headers, signal, agent: false }, (answer) => {
        const parts = [];
        answer.on('data', (part) => parts.push(part));
        answer.on('error', reject);
        answer.on('end', () => resolve({ status: answer.statusCode, text: Buffer.concat(parts).toString() }));
      });
      request.on('error', reject);
      request.end(body);
    });
  }
}

/** A fault rule. `hits` and `spent` are those of the moment when the verb returned. */
class Rule {
  constructor(client, { id, rule, hits, spent }) {
    Object.defineProperty(this, '_client', { value: client });
    Object.assign(this, { id, rule, hits, spent });
  }

  /** Disarms the rule, and lets go on what it holds. It may be called again. */
  remove(options) {
    return this._client.removeRule(this.id, options);
  }

  /** Resolves once the rule was applied, `hits` times if that is given. */
  wait(options) {
    return this._client.waitForRule(this.id, options);
  }
}

function isRule(result) {
  return result !== null && typeof result === 'object' && 'id' in result && 'spent' in result && 'rule' in result;
}

function snake(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Bytes become the control plane's form. */
function encoded(value) {
  if (value instanceof Uint8Array) return { base64: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(encoded);
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, encoded(each)]));
}

const NAMES = /^[a-z]+(?:_[a-z]+)+$/;
const BY_FIELD = {
  records: (record) => ({ ...record, key: bytes(record.key), value: bytes(record.value), headers: record.headers.map(header) }),
  topics: (topic) => ({ ...camelKeys(topic), partitions: mapped(topic.partitions, camelKeys) }),
  groups: (group) => ({ ...group, members: group.members.map(camelKeys) }),
  cluster: (cluster) => ({ ...camelKeys(cluster), brokers: mapped(cluster.brokers, camelKeys) }),
};
const RESULTS = {
  records: (result) => result.map(BY_FIELD.records),
  wait_for_records: (result) => result.map(BY_FIELD.records),
  topics: (result) => mapped(result, BY_FIELD.topics),
  groups: (result) => mapped(result, BY_FIELD.groups),
  wait_for_group: BY_FIELD.groups,
  describe_cluster: BY_FIELD.cluster,
  partition: camelKeys,
  snapshot: camelKeys,
  snapshots: (result) => mapped(result, camelKeys),
  transactions: (result) => mapped(result, camelKeys),
  wait_for_transaction: camelKeys,
  requests: (result) => result.map(camelKeys),
  assert_seen: (result) => result.map(camelKeys),
  wait_for_request: camelKeys,
};

function decoded(result, verb) {
  return verb in RESULTS && result !== null ? RESULTS[verb](result) : result;
}

function mapped(values, convert) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value)]));
}

/** The fields of an object in camel case; what is in them stays as it is. */
function camelKeys(value) {
  const named = (name) => (NAMES.test(name) ? name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase()) : name);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [named(name), each]));
}

function bytes(value) {
  if (value === null) return null;
  return typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.base64, 'base64');
}

function header([name, value]) {
  return [name, bytes(value)];
}

module.exports = { Client, Rule };
