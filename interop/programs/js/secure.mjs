/**
 * What kafkajs and @platformatic/kafka meet on a broker that asks who they are: `secure.mjs CLIENT`, an attempt for each line of
 * the input, an object for each attempt. Neither tells its users for how long a broker has throttled them.
 */

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { Producer } from '@platformatic/kafka'
import kafkajs from 'kafkajs'

const { Kafka, Partitioners, logLevel } = kafkajs
const PATIENCE = 30_000 // ms

const tls = ({ authority, certificate }) => ({
  ca: [readFileSync(authority, 'utf8')],
  ...(certificate && { cert: readFileSync(certificate, 'utf8'), key: readFileSync(certificate, 'utf8') })
})
const hasTls = ({ protocol }) => protocol.endsWith('SSL')
const hasSasl = ({ protocol }) => protocol.startsWith('SASL')

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
const FIELDS = ['bootstrap', 'protocol', 'mechanism', 'user', 'secret', 'authority', 'certificate', 'topic']

/** The library's own name of a failure: its kind and, of an answer of the broker, the error in it. */
function named (error) {
  for (let cause = error; cause; cause = cause.cause ?? cause.errors?.[0]) {
    const own = cause.type ?? cause.apiId ?? cause.code
    if (/AUTH/.test(`${own}${cause.name}`)) return [cause.name, own].filter(Boolean).join(' ')
  }
  return error.name
}

const run = CLIENTS[process.argv[2]]
if (!run) {
  console.error(`usage: ${process.argv[1]} ${Object.keys(CLIENTS).join('|')}`)
  process.exit(2)
}
for await (const line of createInterface({ input: process.stdin })) {
  const fields = line.split('\t')
  const attempt = Object.fromEntries(FIELDS.map((name, at) => [name, fields[at]]))
  Object.assign(attempt, { count: Number(fields[8]), size: Number(fields[9]) })
  const began = performance.now()
  const late = new Promise((_resolve, reject) => setTimeout(reject, PATIENCE, new Error('not done')).unref())
  const failure = await Promise.race([run(attempt), late]).then(() => null, error => error)
  const end = { error: failure ? named(failure) : '', seconds: (performance.now() - began) / 1000, throttle_ms: -1, about: `${failure ?? ''}` }
  console.log(JSON.stringify(end))
}
process.exit(0)
