/**
 * @confluentinc/kafka-javascript: librdkafka in the shape of kafkajs. Its packages are a build apart, in NODE_MODULES.
 * It sends no header without a value, and gives one that it reads as an empty one.
 */

import { createRequire } from 'node:module'
import { join } from 'node:path'
import { main } from './program.mjs'
import { until } from './until.mjs'

const require = createRequire(join(process.env.NODE_MODULES, 'packages'))
const { Kafka, logLevel } = require('@confluentinc/kafka-javascript').KafkaJS
const { version } = require('@confluentinc/kafka-javascript/package.json')

const PRODUCER = { 'linger.ms': 20 }
const MEMBER = process.env.GROUP_PROTOCOL === 'consumer'
  ? { 'group.protocol': 'consumer' } // KIP-848: the broker decides about heartbeats
  : { 'heartbeat.interval.ms': 200 } // it hears of a rebalance when it beats

const message = ({ key, value, headers }) => ({ key, value, headers: Object.fromEntries(headers) })

/** Each header comes as a list of its values, or as one. */
const headersOf = headers => new Map(Object.entries(headers).map(([name, found]) => {
  const [value] = [found].flat()
  return [name, value.length ? value : null]
}))

class Client {
  constructor (brokers) {
    this.kafka = new Kafka({ kafkaJS: { brokers, logLevel: logLevel.NOTHING } })
    this.admin = this.kafka.admin()
  }

  static async open (brokers) {
    const client = new Client(brokers)
    await client.admin.connect()
    return client
  }

  createTopic (topic, numPartitions) {
    return this.admin.createTopics({ topics: [{ topic, numPartitions, replicationFactor: 1 }] })
  }

  async partitions (topic) {
    const [{ partitions }] = await this.admin.fetchTopicMetadata({ topics: [topic] })
    return partitions.length
  }

  async produce (topic, codec, records) {
    const producer = this.kafka.producer({ ...PRODUCER, 'compression.type': codec })
    await producer.connect()
    await producer.send({ topic, messages: records.map(message) })
    await producer.disconnect()
  }

  async writer (topic) {
    const producer = this.kafka.producer({ kafkaJS: { idempotent: true }, ...PRODUCER })
    await producer.connect()
    return {
      send: records => producer.send({ topic, messages: records.map(message) }),
      close: () => producer.disconnect()
    }
  }

  async consume (groupId, topic, deliver) {
    const consumer = this.kafka.consumer({ kafkaJS: { groupId, fromBeginning: true, autoCommit: false }, ...MEMBER })
    await consumer.connect()
    await consumer.subscribe({ topic })
    const eachMessage = async ({ partition, message: { key, value, headers, offset } }) =>
      deliver({ key, value, headers: headersOf(headers), partition, offset: BigInt(offset) })
    await consumer.run({ eachMessage })
    const at = ([partition, offset]) => ({ topic, partition, offset: String(offset) })
    const sendCommit = positions => consumer.commitOffsets([...positions].map(at))
    const commit = async positions => {
      await sendCommit(positions) // answers when it is sent, not when it was heard
      const expected = [...positions.values()].sort().join()
      await until('committed', () => this.committed(groupId, topic), found => found.sort().join() === expected)
    }
    return {
      commit,
      sendCommit, // to ask back while the coordinator dies crashes the library
      close: () => consumer.disconnect()
    }
  }

  async members (group) {
    const { groups: [{ members }] } = await this.admin.describeGroups([group])
    return members.map(({ assignment }) => assignment.topicPartitions.length)
  }

  async committed (groupId, topic) {
    const [found] = await this.admin.fetchOffsets({ groupId, topics: [topic] })
    return found?.partitions.map(({ offset }) => BigInt(offset)) ?? []
  }

  async offsetAt (topic, requested, time) {
    const found = await this.admin.fetchTopicOffsetsByTimestamp(topic, time)
    return found.find(({ partition }) => partition === requested).offset
  }

  async begin (topic, transactionalId, transactionTimeout) {
    const producer = this.kafka.producer({ kafkaJS: { transactionalId, transactionTimeout }, ...PRODUCER })
    await producer.connect()
    const transaction = await producer.transaction()
    return {
      send: records => transaction.send({ topic, messages: records.map(message) }),
      sendOffset: (group, offset) => this.sendOffset(transaction, topic, group, offset),
      end: async commit => {
        try {
          await (commit ? transaction.commit() : transaction.abort())
        } finally {
          await producer.disconnect()
        }
      }
    }
  }

  /** The group is that of a consumer. */
  async sendOffset (transaction, topic, groupId, offset) {
    const consumer = this.kafka.consumer({ kafkaJS: { groupId }, ...MEMBER })
    await consumer.connect()
    await transaction.sendOffsets({ consumer, topics: [{ topic, partitions: [{ partition: 0, offset: String(offset) }] }] })
    await consumer.disconnect()
  }

  close () {
    return this.admin.disconnect()
  }
}

await main({ name: 'confluent-kafka-javascript', version, nullHeaders: false, open: Client.open })
