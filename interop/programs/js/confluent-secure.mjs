/**
 * What @confluentinc/kafka-javascript meets on a broker that asks who it is, with its packages in NODE_MODULES. It reports
 * throttling to those alone that use it without the shape of kafkajs.
 */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { attempts, hasSasl, hasTls } from './attempts.mjs'

const require = createRequire(join(process.env.NODE_MODULES, 'packages'))
const { Kafka, logLevel } = require('@confluentinc/kafka-javascript').KafkaJS

const HOUR = 3_600_000 // ms

function login ({ mechanism, user, secret }) {
  if (mechanism !== 'OAUTHBEARER') return { mechanism: mechanism.toLowerCase(), username: user, password: secret }
  return { mechanism: 'oauthbearer', oauthBearerProvider: async () => ({ value: secret, principal: user, lifetime: Date.now() + HOUR }) }
}

await attempts(async attempt => {
  const { bootstrap, authority, certificate, topic, count, size } = attempt
  const client = new Kafka({
    kafkaJS: {
      brokers: [bootstrap],
      logLevel: logLevel.NOTHING,
      ...(hasTls(attempt) && { ssl: true }),
      ...(hasSasl(attempt) && { sasl: login(attempt) })
    },
    ...(hasTls(attempt) && { 'ssl.ca.location': authority }),
    ...(certificate && { 'ssl.certificate.location': certificate, 'ssl.key.location': certificate })
  })
  const producer = client.producer()
  await producer.connect()
  try {
    for (let left = count; left > 0; left--) await producer.send({ topic, messages: [{ value: 'x'.repeat(size) }] })
  } finally {
    await producer.disconnect()
  }
})
