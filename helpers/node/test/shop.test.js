// A small service with KafkaJS: it reads orders and writes invoices, also when a leader is killed.
'use strict';

const assert = require('node:assert/strict');
const { after, afterEach, before, beforeEach, test } = require('node:test');
const { Kafka, logLevel } = require('kafkajs');

const { start } = require('..');

let kafka;
let service;

async function invoicing(brokers) {
  const retry = { initialRetryTime: 50, retries: 20 };
  const client = new Kafka({ brokers, retry, logLevel: logLevel.NOTHING });
  const [producer, consumer] = [client.producer(), client.consumer({ groupId: 'invoicing' })];
  await Promise.all([producer.connect(), consumer.connect()]);
  await consumer.subscribe({ topics: ['orders'], fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message }) => {
      const value = `invoice for ${message.value}`;
      await producer.send({ topic: 'invoices', messages: [{ key: message.key, value }] });
    },
  });
  return { stop: () => Promise.all([producer.disconnect(), consumer.disconnect()]) };
}

before(async () => {
  kafka = await start({ brokers: 3 });
});
beforeEach(async () => {
  await kafka.reset();
  for (const topic of ['orders', 'invoices']) await kafka.createTopic(topic, { replicationFactor: 3 });
  service = await invoicing(kafka.brokers);
});
afterEach(() => service.stop());
after(() => kafka.stop());

async function invoices(count) {
  const records = await kafka.waitForRecords('invoices', { count, timeout: 60 });
  return records.map((record) => record.value.toString());
}

test('survives a killed leader', () =>
  kafka.reporting(async () => {
    await kafka.produce('orders', { value: 'two pears' });
    await invoices(1);

    const leader = await kafka.leader('invoices', 0);
    await kafka.killBroker(leader);
    await kafka.expireSession(leader); // another broker leads at once, not after 9 seconds
    await kafka.produce('orders', { value: 'three pears' });
    assert.equal((await invoices(2)).at(-1), 'invoice for three pears');
  }));

test('retries when the leader has moved', () =>
  kafka.reporting(async () => {
    const rule = await kafka.fail('Produce', 'NOT_LEADER_OR_FOLLOWER', { topic: 'invoices', times: 2 });
    await kafka.produce('orders', { value: 'two pears' });
    await rule.wait({ hits: 2, timeout: 60 });
    assert.deepEqual(await invoices(1), ['invoice for two pears']);
  }));
