/**
 * The verb `endure`: writes and reads while brokers are killed, until its input ends; then until it has read all that was
 * acknowledged, and committed that. It tells what happens, a line for each thing.
 */

import { setTimeout as pause } from 'node:timers/promises'
import { records } from './promise.mjs'

const AT_ONCE = 10
const PAUSE = 50 // ms; the machine is shared
const LASTING = 100_000 // ms after the end of the input; then it gives up

const say = (...words) => process.stdout.write(`> ${words.join(' ').replaceAll('\n', ' ')}\n`)

export class Endurance {
  acknowledged = new Set()
  seen = new Set()
  positions = new Map()
  over = false
  end = Infinity

  constructor (client, topic, group, nullHeaders) {
    Object.assign(this, { client, topic, group, nullHeaders })
  }

  async run () {
    process.stdin.resume().on('end', () => {
      this.over = true
      this.end = Date.now() + LASTING
    })
    const member = await this.client.consume(this.group, this.topic, one => this.take(one))
    const committing = this.commitAgainAndAgain(member)
    await this.write()
    await committing
    await member.close()
  }

  async write () {
    const writer = await this.client.writer(this.topic)
    for (let first = 0; !this.over; first += AT_ONCE) {
      const made = records('none', first, AT_ONCE)
      const sent = made.map(one => this.nullHeaders ? one : { ...one, headers: one.headers.filter(([, value]) => value) })
      try {
        await writer.send(sent)
        made.forEach((_, n) => this.acknowledged.add(first + n))
        say('wrote', first, first + AT_ONCE)
      } catch (error) {
        say('failed', first, first + AT_ONCE, error)
      }
      await pause(PAUSE)
    }
    this.written = true
    await writer.close()
  }

  take ({ value, partition, offset }) {
    const number = Number(String(value).split('-')[1])
    say('read', partition, offset, number)
    this.seen.add(number)
    this.positions.set(partition, offset + 1n)
  }

  get whole () {
    return this.written && [...this.acknowledged].every(number => this.seen.has(number))
  }

  /** What fails, as with a rebalance, is committed with what is read next. */
  async commitAgainAndAgain (member) {
    let committed = ''
    for (;;) {
      const [whole, positions] = [this.whole, new Map(this.positions)]
      const target = [...positions].join()
      if (target !== committed) {
        try {
          await (member.sendCommit ?? member.commit)(positions)
          say('committed')
          committed = target
        } catch (error) {
          say('uncommitted', error)
        }
      }
      if (whole && target === committed) return
      if (Date.now() > this.end) throw new Error('not all was read and committed in time')
      await pause(4 * PAUSE)
    }
  }
}
