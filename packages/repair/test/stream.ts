import { setTimeout as sleep } from 'node:timers/promises'
import type { Tally, TestRecord } from '@tally/testkit/processes/tally'
import { onTestFinished } from 'vitest'

/** How many batches may be sent before they are counted: a larger backlog takes longer to count than a test may. */
const mostAhead = 50

/** Sends the records of `make`, one batch after another, until `stop`, which returns everything that was sent. */
export function keepSending(
  tally: Tally,
  make: (batch: number) => TestRecord[],
): { stop: () => Promise<TestRecord[]> } {
  return untilStopped(async (sent: TestRecord[], batch) => {
    const records = make(batch)
    await tally.produce(records)
    sent.push(...records)
    if ((batch + 1) % mostAhead === 0) await tally.settle()
    await sleep(5)
  })
}

export type Polled = { totalOrders: number; totalSales: number }

/** Asks for the KPIs of an event again and again; keeps each answer. Any status but 200 is a failure. */
export function keepAsking(tally: Tally, path: string, token: string): { stop: () => Promise<Polled[]> } {
  return untilStopped(async (answers: Polled[]) => {
    const { status, text, body } = await tally.get(path, { token })
    if (status !== 200) throw new Error(`${path} answered ${status}: ${text}`)
    answers.push(body.data)
    await sleep(2)
  })
}

/**
 * Runs `step` again and again until `stop`, which returns what the steps collected, or throws what one of them threw.
 * The end of the test stops it too.
 */
function untilStopped<Item>(step: (collected: Item[], round: number) => Promise<void>): {
  stop: () => Promise<Item[]>
} {
  const collected: Item[] = []
  let stopped = false
  const done = (async () => {
    for (let round = 0; !stopped; round++) await step(collected, round)
  })()
  onTestFinished(() => {
    stopped = true
    return done.catch(() => {})
  })
  return {
    async stop() {
      stopped = true
      await done
      return collected
    },
  }
}
