/** Waiting for what others make true: asked again until a deadline, and never a sleep in order that something be so. */

import { setTimeout as pause } from 'node:timers/promises'

const PATIENCE = 20_000 // ms
const BETWEEN = 20 // ms

/** Calls `ask` until `holds` accepts the answer, and returns it. An error of the last call is reported. */
export async function until (what, ask, holds = () => true) {
  const end = Date.now() + PATIENCE
  for (;;) {
    const [answer, error] = await Promise.resolve().then(ask).then(answer => [answer], error => [undefined, error])
    if (!error && holds(answer)) return answer
    if (Date.now() > end) throw new Error(`${what}: ${error?.message ?? answer}`)
    await pause(BETWEEN)
  }
}

export function expect (holds, why) {
  if (!holds) throw new Error(why)
}
