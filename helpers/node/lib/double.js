// A kafkadouble that this process starts, and its life.
'use strict';

const { spawn } = require('node:child_process');
const { randomBytes } = require('node:crypto');
const { once } = require('node:events');

const { Client } = require('./client');
const { StartError } = require('./errors');
const { found, INSTALL } = require('./program');

const LAST_LINE = 'control.url';
const MOST_STDERR = 64 * 1024; // characters that are kept
const STOP_MS = 10_000;

/** A cluster of one broker or more, in a process of its own. `start` makes it. */
class Double extends Client {
  constructor(child, values, token) {
    super(values[LAST_LINE], token);
    Object.defineProperty(this, '_child', { value: child });
    this.bootstrapServers = values['bootstrap.servers'];
    this.brokers = this.bootstrapServers.split(',');
    this.version = values.version;
  }

  /** The end of what the program wrote on stderr. */
  get stderr() {
    return this._child.text.stderr;
  }

  /** Ends the program; resolves when it has ended. It may be called again. */
  async stop() {
    await ended(this._child);
  }

  /** `await using kafka = await start()` stops it at the end of the block. */
  async [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]() {
    await this.stop();
  }
}

/** Starts a kafkadouble; resolves once clients are accepted. */
async function start(options = {}) {
  const program = found(options);
  if (program === null) throw new StartError(`the program kafkadouble was not found: ${INSTALL}`, '');
  const { source } = program;
  const [path, ...first] = program.words;
  const token = randomBytes(16).toString('hex');
  // The program ends when its stdin does, of which this process holds the other end: in whatever way
  // this one ends.
  const child = spawn(path, [...first, ...words(options)], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: { ...process.env, KAFKADOUBLE_CONTROL_TOKEN: token, ...passwords(options) },
  });
  const values = read(child);
  try {
    await until(values, child, { ...options, source });
    const double = new Double(child, await values, token);
    await ready(double, options.signal);
    unref(child);
    return double;
  } catch (failure) {
    await ended(child);
    throw failure;
  }
}

/** Other users of the machine can read a command line, so passwords are in the environment. */
function passwords({ users = {} }) {
  const lines = Object.entries(users).map(([name, password]) => `${name}:${password}`);
  return lines.length ? { KAFKADOUBLE_USERS: lines.join('\n') } : {};
}

function words({ brokers = 1, topics = {}, settings = {}, arguments: more = [], ...access }) {
  const { security, oauthbearer, certificate, acls = [], superUsers = [], scenario, stepped } = access;
  return [
    ...['serve', '--port', '0', '--control-port', '0', '--until-stdin-ends', '--brokers', String(brokers)],
    ...Object.entries(topics).flatMap(([name, partitions]) => ['--topic', `${name}:${partitions}`]),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
    ...(scenario ? ['--scenario', scenario] : []),
    ...(stepped ? ['--stepped'] : []),
    ...(security ? ['--security', security] : []),
    ...(oauthbearer ? ['--oauthbearer', oauthbearer] : []),
    ...(certificate ? ['--certificate', certificate] : []),
    ...acls.flatMap((acl) => ['--acl', acl]),
    ...superUsers.flatMap((principal) => ['--super-user', principal]),
    ...more,
  ];
}

/** Reads all output, all the time; resolves with the lines of key=value, the last one included. */
function read(child) {
  child.text = { stdout: '', stderr: '' };
  child.stdin.on('error', () => {}); // the program ended first
  child.stdout.setEncoding('utf8');
  child.stderr.setEncoding('utf8');
  child.stderr.on('data', (text) => {
    child.text.stderr = (child.text.stderr + text).slice(-MOST_STDERR);
  });
  return new Promise((resolve) => {
    child.stdout.on('data', (text) => {
      child.text.stdout = (child.text.stdout + text).slice(-MOST_STDERR);
      const lines = child.text.stdout.split('\n').slice(0, -1).map((line) => line.trim());
      const values = Object.fromEntries(lines.map((line) => line.split(/=(.*)/s, 2)));
      if (LAST_LINE in values) resolve(values);
    });
  });
}

/** Rejects with a StartError if the program is not there, ends, or takes too long. */
async function until(values, child, { source, startTimeout = 30, signal }) {
  const stop = new AbortController();
  const failed = (sentence) => new StartError(sentence, child.text.stderr);
  const problems = [
    event(child, 'error').then((error) => missing(error, source)),
    event(child, 'close').then((code) => failed(`the program ended with ${code}`)),
    later(startTimeout * 1000, stop.signal).then(() => failed(`the program is not ready after ${startTimeout} s`)),
  ];
  if (signal) problems.push(aborted(signal, stop.signal).then(() => signal.reason));
  problems.forEach((each) => each.catch(() => {}));
  const first = await Promise.race([values, ...problems]);
  stop.abort();
  if (first instanceof Error) throw first;
}

function event(child, name) {
  return new Promise((resolve) => {
    child.once(name, resolve);
  });
}

function missing({ code }, source) {
  return new StartError(`the program of ${source} cannot be started (${code}): ${INSTALL}`);
}

function later(ms, signal) {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener('abort', () => clearTimeout(timer));
  });
}

async function aborted(signal, stop) {
  if (!signal.aborted) await once(signal, 'abort', { signal: stop });
}

async function ready(double, signal) {
  for (;;) {
    const { status } = await double._request('GET', '/ready', '', signal);
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Lets this process end although the program runs. */
function unref(child) {
  for (const each of [child, child.stdin, child.stdout, child.stderr]) each.unref();
}

async function ended(child) {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), STOP_MS);
  await exit;
  clearTimeout(timer);
}

module.exports = { Double, start };
