// Calls of the control plane.
'use strict';

const { AsyncLocalStorage } = require('node:async_hooks');
const http = require('node:http');

const { Verbs } = require('./verbs');
const { TimeoutError, UsageError, errorOf } = require('./errors');
const { encoded } = require('./encoding');
const { RESULTS, TYPES } = require('./results');
const { version } = require('../package.json');

// Jest and Vitest end a test after 5 s: a wait that ends before can say what there was instead.
const WAIT_SECONDS = 4;

/** In the body of a test: its client. */
const BODY = new AsyncLocalStorage();
const CONCURRENT =
  'the body of another test still runs with this double: run tests that share a double one after another, ' +
  'or `start` a double for each; a body also runs on after its test has timed out';

/** Calls the control plane of a kafkadouble: every verb is a method. */
class Client extends Verbs {
  constructor(url, token) {
    super();
    this.controlUrl = url.replace(/\/+$/, '');
    this.token = token;
    Object.defineProperty(this, '_bodies', { value: 0, writable: true });
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
    return requests.map((each) => this._decoded(each, 'Request'));
  }

  /** Runs the body of a test; if it fails, prints what happened on stderr before it throws.
   * Refuses a body while that of another test runs: each would see what the other does. */
  async reporting(body, count = 20) {
    if (this._bodies > 0 && BODY.getStore() !== this) throw new UsageError(CONCURRENT);
    this._bodies++;
    try {
      return await BODY.run(this, () => body(this));
    } catch (failure) {
      const report = await this.report({ count }).catch((problem) => `no report: ${problem.message}`);
      console.error(`kafkadouble: ${report}`);
      throw failure;
    } finally {
      this._bodies--;
    }
  }

  async _verb(verb, required, options = {}) {
    const { signal, ...optional } = options;
    if (waitsBriefly(verb)) optional.timeout ??= WAIT_SECONDS;
    const given = Object.entries(optional).map(([name, value]) => [snake(name), encoded(value, name)]);
    const result = await this.call(verb, { ...required, ...Object.fromEntries(given) }, { signal });
    return this._decoded(result, RESULTS[verb]);
  }

  /** Waits until `count` records are accepted by `where`, which is called here; returns those. */
  async waitForRecords(topic, { where, count = 1, timeout, ...options } = {}) {
    timeout ??= WAIT_SECONDS;
    if (where == null) return super.waitForRecords(topic, { count, timeout, ...options });
    if (typeof where !== 'function') throw new UsageError(`where is a function of a record, not ${where}`);
    const end = Date.now() + timeout * 1000;
    const waited = (total) => super.waitForRecords(topic, { count: total, timeout: secondsUntil(end), ...options });
    for (let total = count; ; ) {
      const records = await waited(total).catch((failure) => this._recordsNow(topic, options, failure));
      const accepted = await filtered(records, where);
      if (accepted.length >= count) return accepted;
      const there = `There is: ${accepted.length} accepted of ${records.length} records`;
      if (Date.now() >= end) throw new TimeoutError(`${count} records of ${topic} that are accepted: not within ${timeout} s. ${there}`);
      total = records.length + 1;
    }
  }

  /** The records that there are after a wait for more. */
  async _recordsNow(topic, options, failure) {
    if (!(failure instanceof TimeoutError)) throw failure;
    const { advance, ...narrowing } = options;
    return this.records(topic, narrowing).catch(() => []);
  }

  /** A result in the form of the library. What is null in JSON, or not there, is null. */
  _decoded(value, type) {
    if (value === null || value === undefined) return null;
    if (Array.isArray(type)) {
      const inner = (each) => this._decoded(each, type[1]);
      return type[0] === 'list' ? value.map(inner) : mapped(value, inner);
    }
    if (type === 'Rule') return new Rule(this, value);
    if (type === 'bytes') return bytes(value);
    if (type === 'Header') return [value[0], bytes(value[1])];
    if (!(type in TYPES)) return value;
    return Object.fromEntries(TYPES[type].map(([name, own, of]) => [own, this._decoded(value[name], of)]));
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
    headers['user-agent'] = `kafkadouble-node/${version}`; // errors are in the words of JavaScript
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

  /** Disarms the rule, and releases everything that it holds. It may be called again. */
  remove(options) {
    return this._client.removeRule(this.id, options);
  }

  /** Resolves once the rule was applied, `hits` times if that is given. */
  wait(options) {
    return this._client.waitForRule(this.id, options);
  }
}

/** A broker that starts takes longer than a test runner waits by default. */
function waitsBriefly(verb) {
  return verb.startsWith('wait_for_') && verb !== 'wait_for_broker';
}

function snake(name) {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function mapped(values, convert) {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, convert(value)]));
}

function bytes(value) {
  if (value === null) return null;
  return typeof value === 'string' ? Buffer.from(value) : Buffer.from(value.base64, 'base64');
}

async function filtered(records, where) {
  const accepted = [];
  for (const each of records) if (await where(each)) accepted.push(each);
  return accepted;
}

function secondsUntil(end) {
  return Math.max(0, end - Date.now()) / 1000;
}

module.exports = { Client, Rule };
