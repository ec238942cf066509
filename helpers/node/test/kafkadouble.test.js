'use strict';

const assert = require('node:assert/strict');
const { spawn, spawnSync } = require('node:child_process');
const { once } = require('node:events');
const net = require('node:net');
const path = require('node:path');
const { after, before, beforeEach, test } = require('node:test');
const { Worker } = require('node:worker_threads');

const library = require('..');

const { start, connect } = library;
let kafka;

before(async () => {
  kafka = await start({ topics: { orders: 2 } });
});
beforeEach(() => kafka.reset());
after(() => kafka.stop());

/** Sends an ApiVersions request, and waits for the answer. */
function askVersions(double) {
  const [host, port] = double.brokers[0].split(':');
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(port), host, () => {
      socket.write(Buffer.from('\x00\x00\x00\x11\x00\x12\x00\x00\x00\x00\x00\x01\x00\x07by-hand', 'latin1'));
    });
    socket.once('data', () => socket.destroy());
    socket.on('error', reject).on('close', resolve);
  });
}

async function untilRefused(address) {
  const [host, port] = address.split(':');
  const accepts = () =>
    new Promise((resolve) => {
      const socket = net.connect(Number(port), host);
      socket.on('connect', () => resolve(true)).on('error', () => resolve(false));
      socket.on('connect', () => socket.destroy());
    });
  while (await accepts()) await new Promise((resolve) => setTimeout(resolve, 10));
}

test('records come back as they were produced', async () => {
  const value = Buffer.from([0xff]);
  await kafka.produce('orders', { value, key: 'pears', partition: 1, headers: { trace: '7' } });
  await kafka.produceAll('orders', [Buffer.from([0xfe]), { key: 'k', value: null }], { partition: 0 });
  const [first, second, third] = await kafka.waitForRecords('orders', { count: 3 });
  assert.deepEqual(first.value, Buffer.from([0xfe]));
  assert.equal(second.value, null);
  assert.deepEqual([third.key.toString(), third.value, third.headers[0][1].toString()], ['pears', value, '7']);
});

test('records are filtered here', async () => {
  await kafka.produceAll('orders', ['apple', 'pears', 'plums', 'pears']);
  const where = async (record) => record.value.toString() === 'pears';
  assert.equal((await kafka.waitForRecords('orders', { where, count: 2 })).length, 2);
  const late = { name: 'TimeoutError', message: /3 records of orders that are accepted: .*2 accepted of 4 records/ };
  await assert.rejects(kafka.waitForRecords('orders', { where, count: 3, timeout: 0.01 }), late);
  const later = kafka.waitForRecords('orders', { where, count: 3 });
  await kafka.produceAll('orders', ['plums', 'pears']);
  assert.deepEqual((await later).map((each) => each.value.toString()), ['pears', 'pears', 'pears']);
  await assert.rejects(kafka.waitForRecords('orders', { where: true }), { name: 'UsageError', message: /where is a function/ });
});

test('what JSON would change without a word is refused by its name', async () => {
  const refused = async (call, words) => assert.rejects(call, { name: 'UsageError', message: words });
  await refused(kafka.assertSeen({ where: () => true }), /^where is a function/);
  await refused(kafka.fail('Produce', 6, { predicate: () => true }), /^predicate is a function/);
  await refused(kafka.fail('Produce', 6, { times: NaN }), /^times is NaN/);
  await refused(kafka.produceAll('orders', ['a', undefined]), /^records\[1\] is undefined/);
  await refused(kafka.produceAll('orders', [{ value: Promise.resolve('a') }]), /^records\[0\].value is a promise/);
  await refused(kafka.produce('orders', { key: /a/ }), /^key is a RegExp/);
  await refused(kafka.commitOffsets('shop', { orders: { 0: 2n ** 60n } }), /^offsets.orders.0 is 1152921504606846976/);
  assert.deepEqual([await kafka.rules(), await kafka.records('orders')], [[], []]);
});

test('sets, maps, dates and large integers are sent', async () => {
  const headers = new Map([['trace', new Uint8Array([0xff])]]);
  await kafka.produce('orders', { headers, timestamp: new Date(7), value: new Uint8Array([1]).buffer, partition: 0 });
  const [record] = await kafka.records('orders');
  assert.deepEqual([record.headers, record.timestamp, record.value], [[['trace', Buffer.from([0xff])]], 7, Buffer.from([1])]);
  await kafka.commitOffsets('shop', new Map([[['orders', 0], 1n]]));
  await kafka.waitForIsr('orders', 0, new Set([1]));
  assert.equal((await kafka.groups()).shop.offsets.orders[0].offset, 1);
});

test('a reset leaves the topics of the start', async () => {
  await kafka.createTopic('other', { partitions: 3, config: { 'cleanup.policy': 'compact' } });
  assert.equal((await kafka.topics()).other.configs['cleanup.policy'], 'compact');
  await kafka.fail('Produce', 'NOT_LEADER_OR_FOLLOWER');
  await kafka.produce('orders', { value: 'pears' });
  await kafka.reset();
  assert.deepEqual(Object.keys(await kafka.topics()), ['orders']);
  assert.deepEqual([await kafka.rules(), await kafka.records('orders')], [[], []]);
});

test('rules are handles', async () => {
  const rule = await kafka.delay('*', 0.01, { times: null });
  await askVersions(kafka);
  await rule.wait({ hits: 1 });
  const [seen] = await kafka.assertSeen({ apis: ['ApiVersions'], times: 1 });
  assert.deepEqual([seen.rules, seen.clientId, seen.took >= 10], [['delay'], 'by-hand', true]);
  assert.equal((await kafka.rules())[0].id, rule.id);
  await rule.remove();
  assert.deepEqual(await kafka.rules(), []);
});

test('groups have offsets and lags', async () => {
  await kafka.produce('orders', { value: 'pears', partition: 0 });
  await kafka.commitOffsets('shop', { orders: { 0: 0 } });
  const shop = await kafka.waitForGroup('shop', { lag: 1 });
  assert.deepEqual([shop.state, shop.offsets.orders[0].offset, shop.lags.orders[0]], ['Empty', 0, 1]);
});

test('snapshots are restored by name', async () => {
  const taken = await kafka.snapshot({ name: 'empty' });
  await kafka.produce('orders', { value: 'pears' });
  await kafka.restore('empty');
  assert.deepEqual([taken.topics, await kafka.records('orders')], [1, []]);
});

test('the clock is advanced', async () => {
  await kafka.freeze();
  const { nowMs } = await kafka.describeCluster();
  await kafka.advance(3600);
  assert.equal((await kafka.describeCluster()).nowMs - nowMs, 3_600_000);
});

test('errors are classes', async () => {
  await assert.rejects(kafka.createTopic('orders'), { name: 'KafkaError', code: 36, errorName: 'TOPIC_ALREADY_EXISTS' });
  await assert.rejects(kafka.createTopic('more', { lag: 1 }), library.UsageError);
  await assert.rejects(kafka.waitForRecords('orders', { timeout: 0.001 }), library.TimeoutError);
  await assert.rejects(kafka.assertSeen({ apis: ['Produce'] }), library.AssertionError);
  await assert.rejects(connect(kafka.controlUrl, { token: 'wrong' }).groups(), { name: 'CallError', status: 401 });
});

test('a wait ends before a test of Jest, unless it says otherwise', async () => {
  const client = connect(kafka.controlUrl);
  const given = [];
  client.call = async (verb, { timeout }) => void given.push([verb, timeout]);
  await client.waitForRecords('orders');
  await client.waitForTopic('orders', { timeout: null });
  await client.waitForGroup('shop', { timeout: 60 });
  await client.waitForBroker(1);
  await client.groups();
  const expected = [['wait_for_records', 4], ['wait_for_topic', 4], ['wait_for_group', 60]];
  assert.deepEqual(given, [...expected, ['wait_for_broker', undefined], ['groups', undefined]]);
});

test('a group without a member that fetched is not ready', async () => {
  const late = { name: 'TimeoutError', message: /with members that are ready: .*there is no group 'nobody'/ };
  await assert.rejects(kafka.waitForGroup('nobody', { ready: true, timeout: 0.01 }), late);
});

test('records are filtered by key, header, offset and what was read', async () => {
  await kafka.produceAll('orders', [{ value: 'pears', key: 'a', headers: { trace: '7' } }, 'plums'], { partition: 0 });
  const values = async (options) => (await kafka.records('orders', options)).map((each) => each.value.toString());
  assert.deepEqual(await values({ key: Buffer.from('a') }), ['pears']);
  assert.deepEqual(await values({ header: { trace: Buffer.from('7') } }), ['pears']);
  assert.deepEqual(await values({ offset: 1 }), ['plums']);
  const read = await kafka.records('orders');
  assert.deepEqual(await values({ since: read.slice(0, 1) }), ['plums']);
  assert.deepEqual(await values({ since: { 0: 1 } }), ['plums']);
});

test('errors are in the words of JavaScript', async () => {
  await assert.rejects(kafka.advance(1), { name: 'UsageError', message: /give stepped: true, or freeze\(\) it/ });
  await assert.rejects(kafka.addBroker(), /give brokers: 2 or more/);
  await assert.rejects(kafka.fail('Fetch', 6, { clientId: 7 }), /clientId is a text, not 7/);
  await assert.rejects(kafka.produce('orders', { value: 5 }), /a Buffer, or null, not 5/);
});

test('an unknown verb names both versions', async () => {
  await assert.rejects(kafka.call('fly'), new RegExp(`fly.*program kafkadouble ${kafka.version}, library 0`));
});

test('a signal ends a wait', async () => {
  const stop = new AbortController();
  const waiting = kafka.waitForRecords('orders', { timeout: 60, signal: stop.signal });
  stop.abort();
  await assert.rejects(waiting, { name: 'AbortError' });
});

test('a failed body shows the last requests', async () => {
  const script = path.join(__dirname, 'inner', 'fails.js');
  const done = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  assert.equal(done.status, 1);
  assert.match(done.stderr, /kafkadouble: the last requests:\n {2}.*ApiVersions v0 #1 of 'by-hand'/);
});

test('a body is refused while that of a concurrent test runs', async () => {
  let go;
  const first = kafka.reporting(() => new Promise((resolve) => (go = resolve)));
  await assert.rejects(kafka.reporting(() => assert.fail('it runs')), { name: 'UsageError', message: /one after another/ });
  go('done');
  assert.equal(await first, 'done');
  assert.equal(await kafka.reporting(() => kafka.reporting(() => 'inner')), 'inner');
});

test('time stands still until it is advanced', async () => {
  const stepped = await start({ stepped: true });
  const { nowMs } = await stepped.describeCluster();
  await stepped.advance(45);
  assert.equal((await stepped.describeCluster()).nowMs, nowMs + 45_000);
  await stepped.stop();
});

test('the program ends with a thread that is terminated, as those of Vitest are', async () => {
  const worker = new Worker(path.join(__dirname, 'inner', 'waits.js'), { stdout: true });
  const [text] = await once(worker.stdout, 'data');
  await worker.terminate();
  await untilRefused(String(text).trim());
});

test('the program ends with a process that is killed', async () => {
  const child = spawn(process.execPath, [path.join(__dirname, 'inner', 'waits.js')]);
  const address = await new Promise((resolve) => child.stdout.once('data', (text) => resolve(String(text).trim())));
  child.kill('SIGKILL');
  await untilRefused(address);
});

test('the program ends with a process that exits', async () => {
  const script = path.join(__dirname, 'inner', 'exits.js');
  const done = spawnSync(process.execPath, [script], { encoding: 'utf8' });
  assert.equal(done.status, 0, done.stderr);
  await untilRefused(done.stdout.trim());
});

test('several doubles run at once, and stop', async () => {
  const second = await start({ brokers: 3 });
  await second.createTopic('orders', { replicationFactor: 3 });
  assert.deepEqual([kafka.brokers.length, second.brokers.length], [1, 3]);
  await second.stop();
  await second.stop();
  await untilRefused(second.brokers[0]);
});

test('a missing program says how to install it', async () => {
  const missing = { name: 'StartError', message: /pip install 'kafkadouble\[control\]'/ };
  await assert.rejects(start({ program: '/nowhere/kafkadouble' }), missing);
});

test('a failed start shows stderr', async () => {
  const failed = { name: 'StartError', stderr: /log\.segment\.bytes/ };
  await assert.rejects(start({ settings: { 'log.segment.bytes': 'many' } }), failed);
});

test('an ES module has the same names', async () => {
  const module = await import('kafkadouble');
  const internal = ['errorOf'];
  assert.deepEqual(Object.keys(module).sort(), Object.keys(library).filter((name) => !internal.includes(name)).sort());
});
