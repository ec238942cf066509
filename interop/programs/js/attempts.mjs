/**
 * Attempts on a broker that asks its clients who they are: a line of the input each, with tabs between its fields, and an
 * object for each on the output. It is described in walks/secure.py.
 */

import { readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'

const PATIENCE = 30_000 // ms
const FIELDS = ['bootstrap', 'protocol', 'mechanism', 'user', 'secret', 'authority', 'certificate', 'topic']

export const hasTls = ({ protocol }) => protocol.endsWith('SSL')
export const hasSasl = ({ protocol }) => protocol.startsWith('SASL')

/** Options of Node's own TLS. */
export const tls = ({ authority, certificate }) => ({
  ca: [readFileSync(authority, 'utf8')],
  ...(certificate && { cert: readFileSync(certificate, 'utf8'), key: readFileSync(certificate, 'utf8') })
})

/** The library's own name of a failure: its kind and, of an answer of the broker, the error in it. */
export function named (error) {
  for (let cause = error; cause; cause = cause.cause ?? cause.errors?.[0]) {
    const own = cause.type ?? cause.apiId ?? cause.code
    if (/AUTH/.test(`${own}${cause.name}`)) return [cause.name, own].filter(Boolean).join(' ')
  }
  return error.name
}

/** Makes every attempt of the input, one after another, and ends the process. */
export async function attempts (run) {
  for await (const line of createInterface({ input: process.stdin })) {
    const fields = line.split('\t')
    const attempt = Object.fromEntries(FIELDS.map((name, at) => [name, fields[at]]))
    Object.assign(attempt, { count: Number(fields[8]), size: Number(fields[9]) })
    const began = performance.now()
    const late = new Promise((_resolve, reject) => setTimeout(reject, PATIENCE, new Error('not done')).unref())
    const failure = await Promise.race([run(attempt), late]).then(() => null, error => error)
    const seconds = (performance.now() - began) / 1000
    console.log(JSON.stringify({ error: failure ? named(failure) : '', seconds, throttle_ms: -1, about: `${failure ?? ''}` }))
  }
  process.exit(0)
}
