// A client that logs in over TLS, is denied by an ACL, and is allowed.
'use strict';

const assert = require('node:assert/strict');
const { after, before, beforeEach, test } = require('node:test');
const { Kafka, logLevel } = require('kafkajs');

const { start } = require('..');

let kafka;

before(async () => {
  kafka = await start({
    topics: { orders: 1 },
    security: 'SASL_SSL',
    users: { alice: 'secret', bob: 'other' },
    acls: ['User:alice allow DESCRIBE topic:orders'],
  });
});
beforeEach(() => kafka.reset());
after(() => kafka.stop());

async function send(user, retries = 0) {
  const settings = await kafka.clientConfig({ client: 'kafkajs', user });
  const retry = { initialRetryTime: 50, retries };
  const producer = new Kafka({ ...settings, retry, logLevel: logLevel.NOTHING }).producer();
  try {
    await producer.connect();
    return await producer.send({ topic: 'orders', messages: [{ value: 'two pears' }] });
  } finally {
    await producer.disconnect();
  }
}

test('a user may do what an ACL allows', () =>
  kafka.reporting(async () => {
    await assert.rejects(send('alice'), { type: 'TOPIC_AUTHORIZATION_FAILED' });
    await kafka.createAcls(['User:alice allow WRITE topic:orders']);
    await send('alice');
    assert.equal((await kafka.waitForRecords('orders'))[0].value.toString(), 'two pears');
    const [seen] = await kafka.assertSeen({ apis: ['Produce'], principal: 'User:alice', error: false });
    assert.equal(seen.principal, 'User:alice');
  }));

test('a login fails on demand', () =>
  kafka.reporting(async () => {
    await kafka.createAcls(['User:alice allow WRITE topic:orders']);
    const error = 'SASL_AUTHENTICATION_FAILED';
    const rule = await kafka.fail('SaslAuthenticate', error, { principal: 'User:alice', message: 'not today', times: null });
    await assert.rejects(send('alice'), /not today/);
    await rule.remove();
    await send('alice');
    assert.ok(!kafka.stderr.includes('secret'));
  }));
