// Parameters as values of JSON. What JSON would drop or change without a word is an error.
'use strict';

const { UsageError } = require('./errors');

const NO_FORM = new Set(['function', 'symbol']);

/** Bytes become the control plane's form, maps become objects, and times milliseconds. `path` is
 * for the message of a UsageError. */
function encoded(value, path = '') {
  const type = typeof value;
  if (NO_FORM.has(type)) throw new UsageError(`${path} is a ${type}: it stays in this process, and the program cannot call it`);
  if (type === 'number') return finite(value, path);
  if (type === 'bigint') return integer(value, path);
  if (value === null || type !== 'object') return value;
  if (ArrayBuffer.isView(value)) return base64(Buffer.from(value.buffer, value.byteOffset, value.byteLength));
  if (value instanceof ArrayBuffer) return base64(Buffer.from(value));
  if (value instanceof Date) return finite(value.getTime(), path);
  if (Array.isArray(value) || value instanceof Set) return Array.from(value, (each, index) => element(each, `${path}[${index}]`));
  if (value instanceof Map) return byKey(value, path);
  if (value instanceof Promise) throw new UsageError(`${path} is a promise: await it first`);
  const inner = path ? `${path}.` : '';
  const entries = Object.entries(value);
  const { name = 'Object' } = Object.getPrototypeOf(value)?.constructor ?? {};
  if (!entries.length && name !== 'Object') throw new UsageError(`${path} is a ${name}, which has no form in JSON`);
  return Object.fromEntries(entries.map(([name, each]) => [name, encoded(each, inner + name)]));
}

function element(value, path) {
  if (value === undefined) throw new UsageError(`${path} is undefined: give null for no value`);
  return encoded(value, path);
}

function finite(value, path) {
  if (!Number.isFinite(value)) throw new UsageError(`${path} is ${value}, which is no number of JSON`);
  return value;
}

function integer(value, path) {
  if (!Number.isSafeInteger(Number(value))) throw new UsageError(`${path} is ${value}, which is too large for a number`);
  return Number(value);
}

function base64(buffer) {
  return { base64: buffer.toString('base64') };
}

/** A map with texts as keys is an object; one by [topic, partition] is by topic and partition. */
function byKey(map, path) {
  const made = {};
  for (const [key, each] of map) {
    const value = encoded(each, `${path}[${key}]`);
    if (Array.isArray(key)) (made[key[0]] ??= {})[key[1]] = value;
    else made[key] = value;
  }
  return made;
}

module.exports = { encoded };
