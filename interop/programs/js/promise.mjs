/**
 * The records that every client program writes and expects, and their digest. This file never talks to a broker.
 *
 * Record n of a codec: the key is "k<n mod 50>", null for every tenth; the value names both; the headers c and n say
 * them again, and a header "null" has no value.
 */

export const CODECS = ['none', 'gzip', 'snappy', 'lz4', 'zstd']
export const EACH = 200
export const TOTAL = EACH * CODECS.length
export const FURTHER = 30 // written after the group has committed; their numbers go on from EACH
export const PARTITIONS = 3

const record = (codec, n) => ({
  key: n % 10 === 9 ? null : Buffer.from(`k${n % 50}`),
  value: Buffer.from(`${codec}-${n}-${'x'.repeat(100)}`),
  headers: [['c', Buffer.from(codec)], ['n', Buffer.from(String(n))], ['null', null]]
})

/** Records: `key` a Buffer or null, `value` a Buffer, `headers` pairs of a name and a Buffer or null. */
export const records = (codec, first, count) => Array.from({ length: count }, (_, n) => record(codec, first + n))

const fnv1a = bytes => bytes.reduce((hash, byte) => Math.imul(hash ^ byte, 0x01000193), 0x811c9dc5) >>> 0

/** What was delivered: counts by codec, a digest free of order, the next offset of each partition, what was wrong. */
export class Seen {
  counts = Object.fromEntries(CODECS.map(codec => [codec, 0]))
  digest = 0
  total = 0
  positions = new Map()
  wrong = []
  nulls = 0

  /** `headers` is a Map of name to Buffer, string or null; `offset` a BigInt. */
  add ({ key, value, headers, partition, offset }) {
    const [codec, n] = [String(headers.get('c')), String(headers.get('n'))]
    if (!String(value).startsWith(`${codec}-${n}-`)) this.wrong.push(`c=${codec} n=${n}: ${String(value).slice(0, 20)}`)
    if (headers.has('null')) {
      if (headers.get('null') === null) this.nulls++
      else this.wrong.push(`null of ${codec} ${n} has a value`)
    }
    this.counts[codec] = (this.counts[codec] ?? 0) + 1
    this.digest = (this.digest + fnv1a(Buffer.from(`${codec}|${key ?? '-'}|${value}`))) >>> 0
    this.total++
    this.positions.set(partition, offset + 1n)
  }
}
