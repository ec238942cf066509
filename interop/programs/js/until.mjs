/** Waiting for what others make true: asked again until a deadline, and never a sleep in order that something be so. */

import { setTimeout as pause } from 'node:timers/promises'

const PATIENCE = 20_000 // ms
const BETWEEN = 20 // ms

/** Asks until the answer is as wanted, and gives it; an error of the asking is told only if it was the last word. */
export async function until (what, ask, wanted = () => true) {
  const end = Date.now() + PATIENCE
  for (;;) {
    const [answer, error] = await Promise.resolve().then(ask).then(answer => [answer], error => [undefined, error])
    if (!error && wanted(answer)) return answer
    if (Date.now() > end) throw new Error(`${what}: ${error?.message ?? answer}`)
    await pause(BETWEEN)
  }
}

export function expect (holds, why) {
  if (!holds) throw new Error(why)
}
