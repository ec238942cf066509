'use strict';

const assert = require('node:assert/strict');
const { mkdirSync, mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const { join } = require('node:path');
const { test } = require('node:test');

const { found } = require('../lib/program');

test('the program is found where installers put it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kafkadouble-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, 'path');
  const own = join(folder, '.local', 'bin');
  for (const each of [path, own]) mkdirSync(each, { recursive: true });
  const look = (options = {}, more = {}) => found(options, { PATH: path, ...more }, folder, false);
  const add = (at, name) => {
    writeFileSync(join(at, name), '', { mode: 0o755 });
    return join(at, name);
  };
  assert.equal(look(), null);
  const uvx = add(own, 'uvx');
  assert.deepEqual(look().words, [uvx, '--from', 'kafkadouble[control]', 'kafkadouble']);
  const installed = add(own, 'kafkadouble');
  assert.deepEqual(look().words, [installed]);
  const onPath = add(path, 'kafkadouble');
  assert.deepEqual(look().words, [onPath]);
  assert.deepEqual(look({}, { KAFKADOUBLE: '/a/path' }).words, ['/a/path']);
  assert.deepEqual(look({ program: '/another' }, { KAFKADOUBLE: '/a/path' }).words, ['/another']);
});
