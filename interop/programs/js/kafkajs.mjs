/**
 * kafkajs. It knows none and gzip by itself: the other codecs are registered by its users, as here, from WASM and from
 * Node's own zlib. It cannot send a header without a value: it asks for the length of null.
 */

import { createRequire } from 'node:module'
import { promisify } from 'node:util'
import zlib from 'node:zlib'
import { lz4Compress, lz4Decompress } from '@platformatic/wasm-utils'
import kafkajs from 'kafkajs'
import { main } from './program.mjs'

const { AssignerProtocol, CompressionCodecs, CompressionTypes, Kafka, Partitioners, logLevel } = kafkajs
const require = createRequire(import.meta.url)

CompressionCodecs[CompressionTypes.Snappy] = require('kafkajs-snappy')
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: async ({ buffer }) => lz4Compress(buffer),
  decompress: async bytes => lz4Decompress(bytes)
})
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: ({ buffer }) => promisify(zlib.zstdCompress)(buffer),
  decompress: promisify(zlib.zstdDecompress)
})

const COMPRESSION = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD
}

const PRODUCER = { createPartitioner: Partitioners.DefaultPartitioner }
const TRANSACTIONAL = { ...PRODUCER, idempotent: true, maxInFlightRequests: 1 }
const PROMPT = { heartbeatInterval: 200, maxWaitTimeInMs: 200 } // it hears of a rebalance when it beats, after a fetch

const message = ({ key, value, headers }) => ({ key, value, headers: Object.fromEntries(headers) })

class Client {
  constructor (brokers) {
    this.kafka = new Kafka({ brokers, logLevel: logLevel.NOTHING })
    this.admin = this.kafka.admin()
    this.producer = this.kafka.producer(PRODUCER)
  }

  static async open (brokers) {
    const client = new Client(brokers)
    await Promise.all([client.admin.connect(), client.producer.connect()])
    return client
  }

  createTopic (topic, numPartitions) {
    return this.admin.createTopics({ topics: [{ topic, numPartitions, replicationFactor: 1 }], waitForLeaders: true })
  }

  async partitions (topic) {
    const { topics } = await this.admin.fetchTopicMetadata({ topics: [topic] })
    return topics[0].partitions.length
  }

  produce (topic, codec, records) {
    return this.producer.send({ topic, compression: COMPRESSION[codec], messages: records.map(message) })
  }

  /**
   * One record at a time, since what is sent together is lost in part when a leader dies: on a second try it takes what another broker has
   * answered for what the new leader was sent. Nor is it idempotent: a record without a key goes to another partition on a second try, and
   * the numbers of both partitions are then wrong.
   */
  async writer (topic) {
    const { producer } = this
    return {
      send: async records => {
        for (const one of records) await producer.send({ topic, messages: [message(one)] })
      },
      close: () => {} // with the client
    }
  }

  async consume (groupId, topic, deliver) {
    const consumer = this.kafka.consumer({ groupId, ...PROMPT })
    await consumer.connect()
    await consumer.subscribe({ topic, fromBeginning: true })
    const eachMessage = async ({ partition, message: { key, value, headers, offset } }) =>
      deliver({ key, value, headers: new Map(Object.entries(headers)), partition, offset: BigInt(offset) })
    await consumer.run({ autoCommit: false, eachMessage })
    const at = ([partition, offset]) => ({ topic, partition, offset: String(offset) })
    return {
      commit: positions => consumer.commitOffsets([...positions].map(at)),
      close: () => consumer.disconnect()
    }
  }

  async members (group) {
    const { groups: [{ members }] } = await this.admin.describeGroups([group])
    const assigned = ({ memberAssignment }) => AssignerProtocol.MemberAssignment.decode(memberAssignment)?.assignment
    return members.map(member => Object.values(assigned(member) ?? {}).flat().length)
  }

  async committed (groupId, topic) {
    const [{ partitions }] = await this.admin.fetchOffsets({ groupId, topics: [topic] })
    return partitions.map(({ offset }) => offset)
  }

  async offsetAt (topic, requested, time) {
    const found = await this.admin.fetchTopicOffsetsByTimestamp(topic, time)
    return found.find(({ partition }) => partition === requested).offset
  }

  async begin (topic, transactionalId, transactionTimeout) {
    const producer = this.kafka.producer({ ...TRANSACTIONAL, transactionalId, transactionTimeout })
    await producer.connect()
    const transaction = await producer.transaction()
    return {
      send: records => transaction.send({ topic, messages: records.map(message) }),
      sendOffset: (consumerGroupId, offset) =>
        transaction.sendOffsets({ consumerGroupId, topics: [{ topic, partitions: [{ partition: 0, offset: String(offset) }] }] }),
      end: async commit => {
        try {
          await (commit ? transaction.commit() : transaction.abort())
        } finally {
          await producer.disconnect()
        }
      }
    }
  }

  async close () {
    await Promise.all([this.admin.disconnect(), this.producer.disconnect()])
  }
}

const { version } = require('kafkajs/package.json')
await main({ name: 'kafkajs', version, nullHeaders: false, open: Client.open })
