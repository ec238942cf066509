/**
 * What kafkajs and @platformatic/kafka meet on a broker that asks who they are: `secure.mjs CLIENT`, an attempt for each line of
 * the input, an object for each attempt. Neither tells its users for how long a broker has throttled them.
 */

import { Producer } from '@platformatic/kafka'
import kafkajs from 'kafkajs'
import { attempts, hasSasl, hasTls, tls } from './attempts.mjs'

const { Kafka, Partitioners, logLevel } = kafkajs

async function ofKafkajs (attempt) {
  const { bootstrap, mechanism, user: username, secret: password, topic, count, size } = attempt
  const login = mechanism === 'OAUTHBEARER'
    ? { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: password }) }
    : { mechanism: mechanism.toLowerCase(), username, password }
  const client = new Kafka({
    brokers: [bootstrap],
    logLevel: logLevel.NOTHING,
    retry: { retries: 1 },
    ...(hasTls(attempt) && { ssl: tls(attempt) }),
    ...(hasSasl(attempt) && { sasl: login })
  })
  const producer = client.producer({ createPartitioner: Partitioners.DefaultPartitioner })
  try {
    await producer.connect()
    for (let left = count; left > 0; left--) await producer.send({ topic, messages: [{ value: 'x'.repeat(size) }] })
  } finally {
    await producer.disconnect()
  }
}

async function ofPlatformatic (attempt) {
  const { bootstrap, mechanism, user: username, secret, topic, count, size } = attempt
  const producer = new Producer({
    clientId: 'secure',
    bootstrapBrokers: [bootstrap],
    retries: 1,
    ...(hasTls(attempt) && { tls: tls(attempt) }),
    ...(hasSasl(attempt) && { sasl: mechanism === 'OAUTHBEARER' ? { mechanism, token: secret } : { mechanism, username, password: secret } })
  })
  try {
    for (let left = count; left > 0; left--) await producer.send({ messages: [{ topic, value: Buffer.alloc(size, 'x') }] })
  } finally {
    await producer.close()
  }
}

const CLIENTS = { kafkajs: ofKafkajs, 'platformatic-kafka': ofPlatformatic }

const run = CLIENTS[process.argv[2]]
if (!run) {
  console.error(`usage: ${process.argv[1]} ${Object.keys(CLIENTS).join('|')}`)
  process.exit(2)
}
await attempts(run)
