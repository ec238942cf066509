/**
 * @platformatic/kafka. No native code: snappy and LZ4 come from WASM, zstd from Node's own zlib. Its snappy is raw,
 * without the framing of Java.
 */

import { readFile } from 'node:fs/promises'
import {
  Admin, Connection, Consumer, MessagesStreamFallbackModes, MessagesStreamModes, Producer, consumerGroupDescribeV0
} from '@platformatic/kafka'
import { main } from './program.mjs'
import { until } from './until.mjs'

const AGAIN = 200 // ms
const TRIES = 10 // a second apart: more than it takes to have a new leader
const IS_CONSUMER = process.env.GROUP_PROTOCOL === 'consumer' // KIP-848: the broker decides about heartbeats
const PROMPT = { maxWaitTime: 200 }
const CLASSIC = { heartbeatInterval: 200 } // it hears of a rebalance when it beats
const MEMBER = IS_CONSUMER ? { groupProtocol: 'consumer' } : CLASSIC
const FROM = {
  mode: MessagesStreamModes.COMMITTED,
  fallbackMode: MessagesStreamFallbackModes.EARLIEST,
  autocommit: false
}

// Left to itself it says to be producer 0 of epoch 0, which fences it wherever the broker has given it another number.
const TRANSACTIONAL = { idempotent: true, producerId: -1n, producerEpoch: -1 }

const message = topic => ({ key, value, headers }) => ({
  topic,
  key: key ?? undefined,
  value,
  headers: new Map(headers.map(([name, content]) => [Buffer.from(name), content]))
})

class Client {
  constructor (bootstrapBrokers) {
    this.base = { clientId: 'interop', bootstrapBrokers }
    this.admin = new Admin(this.base)
  }

  static async open (brokers) {
    return new Client(brokers)
  }

  async createTopic (topic, partitions) {
    try {
      await this.admin.createTopics({ topics: [topic], partitions, replicas: 1 })
    } catch (error) {
      if (error.findBy?.('apiId', 'TOPIC_ALREADY_EXISTS')) return false
      throw error
    }
    await this.served(topic, partitions)
    return true
  }

  /**
   * A broker may tell of a partition a moment before it serves it; what is produced in that moment is sent again as a
   * whole, and is then there twice in the partitions that were served. So each is asked for its end first.
   */
  async served (name, count) {
    const partitions = Array.from({ length: count }, (_, partitionIndex) => ({ partitionIndex, timestamp: -1n }))
    await until('partitions served', () => this.admin.listOffsets({ topics: [{ name, partitions }] }))
  }

  async partitions (topic) {
    const { topics } = await this.admin.metadata({ topics: [topic], forceUpdate: true })
    return topics.get(topic).partitionsCount
  }

  async produce (topic, compression, records) {
    const producer = new Producer({ ...this.base, compression })
    await producer.send({ acks: -1, messages: records.map(message(topic)) })
    await producer.close()
  }

  /** Left to itself an idempotent producer tries for ever, also what is refused each time (OF_PLATFORMATIC in walks/toolchains/js.py). */
  async writer (topic) {
    const producer = new Producer({ ...this.base, idempotent: true, retries: TRIES })
    return {
      send: records => producer.send({ acks: -1, messages: records.map(message(topic)) }),
      close: () => producer.close()
    }
  }

  async consume (groupId, topic, deliver) {
    const consumer = new Consumer({ ...this.base, groupId, ...PROMPT, ...MEMBER })
    let closing = false
    /** A stream ends with the first error that it does not get over by its own retries: users begin another one. */
    const stream = async () => {
      const begun = await consumer.consume({ topics: [topic], ...FROM, ...PROMPT })
      begun.on('data', ({ key, value, headers, partition, offset }) => {
        const named = [...headers].map(([name, content]) => [String(name), content ?? null])
        deliver({ key, value, headers: new Map(named), partition, offset })
      })
      begun.on('error', error => {
        console.error(error.message)
        if (!closing) again()
      })
    }
    const again = () => stream().catch(error => {
      console.error(error.message)
      if (!closing) setTimeout(again, AGAIN)
    })
    await stream()
    const at = ([partition, offset]) => ({ topic, partition, offset, leaderEpoch: 0 })
    return {
      commit: positions => consumer.commit({ offsets: [...positions].map(at) }),
      close: () => {
        closing = true
        return consumer.close(true)
      }
    }
  }

  async members (group) {
    if (IS_CONSUMER) return this.described(group)
    const { members } = (await this.admin.describeGroups({ groups: [group] })).get(group)
    const assigned = ({ assignments }) => [...assignments?.values() ?? []].flatMap(({ partitions }) => partitions)
    return [...members.values()].map(member => assigned(member).length)
  }

  /** Its Admin describes no groups with the consumer protocol, but there is the request. */
  async described (group) {
    const [host, port] = this.base.bootstrapBrokers[0].split(':')
    const connection = new Connection(this.base.clientId)
    await connection.connect(host, Number(port))
    const { groups: [{ members }] } = await consumerGroupDescribeV0.api.async(connection, [group], false)
    await connection.close()
    return members.map(({ assignment }) => assignment.topicPartitions.flatMap(({ partitions }) => partitions).length)
  }

  async committed (group) {
    const [{ topics: [{ partitions }] }] = await this.admin.listConsumerGroupOffsets({ groups: [group] })
    return partitions.map(({ committedOffset }) => committedOffset)
  }

  async offsetAt (name, partitionIndex, time) {
    const partitions = [{ partitionIndex, timestamp: BigInt(time) }]
    const [topic] = await this.admin.listOffsets({ topics: [{ name, partitions }] })
    return topic.partitions[0].offset
  }

  /** Its option `timeout`, that of each request, is the timeout of transactions, too. */
  async begin (topic, transactionalId, timeout) {
    const producer = new Producer({ ...this.base, ...TRANSACTIONAL, transactionalId, timeout })
    const transaction = await producer.beginTransaction()
    return {
      send: records => transaction.send({ messages: records.map(message(topic)) }),
      sendOffset: (group, offset) => this.sendOffset(transaction, topic, group, offset),
      end: async commit => {
        try {
          await (commit ? transaction.commit() : transaction.abort())
        } finally {
          await producer.close()
        }
      }
    }
  }

  /**
   * It commits the offset of a message that a consumer has read. That one is classic: a transaction sends no member
   * epoch, and Kafka refuses its offsets in a group with the consumer protocol.
   */
  async sendOffset (transaction, topic, groupId, offset) {
    const consumer = new Consumer({ ...this.base, groupId, ...PROMPT, ...CLASSIC })
    const stream = await consumer.consume({ topics: [topic], ...FROM, ...PROMPT })
    for await (const message of stream) {
      if (message.offset === BigInt(offset - 1)) {
        await transaction.addConsumer(consumer)
        await transaction.addOffset(message)
        break
      }
    }
    await consumer.close(true)
  }

  close () {
    return this.admin.close()
  }
}

const described = new URL('../package.json', import.meta.resolve('@platformatic/kafka'))
const { version } = JSON.parse(await readFile(described, 'utf8'))
await main({ name: 'platformatic-kafka', version, nullHeaders: true, open: Client.open })
