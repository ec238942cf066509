/**
 * A client program, `PROGRAM walk|write|read|endure BOOTSTRAP TOPIC GROUP`: its last line is one JSON object, its exit code 0
 * if all went well.
 */

import { Run, VERBS } from './verbs.mjs'

const WHOLE = 60_000 // ms; then it gives up, but for what lasts as long as its input

/** Runs the program of a library, `{ name, version, nullHeaders, open(brokers) }`, and ends the process. */
export async function main ({ name, version, nullHeaders, open }) {
  const [verb, bootstrap, topic, group] = process.argv.slice(2)
  if (!Object.hasOwn(VERBS, verb) || !group) {
    console.error(`usage: ${process.argv[1]} ${Object.keys(VERBS).join('|')} BOOTSTRAP TOPIC GROUP`)
    process.exit(2)
  }
  const run = new Run(verb, topic, group, nullHeaders)
  const end = error => {
    if (error) console.error(error)
    const { behaviours, seen: { counts, digest }, committed } = run
    const result = { client: name, version, verb, behaviours, seen: counts, digest, committed }
    process.stdout.write(`${JSON.stringify(result)}\n`, () => process.exit(error ? 1 : 0))
  }
  if (verb !== 'endure') setTimeout(() => end(new Error(`not done after ${WHOLE / 1000} s`)), WHOLE)
  try {
    run.client = await open(bootstrap.split(','))
    await run[verb]()
    await run.client.close()
    end()
  } catch (error) {
    end(error)
  }
}
