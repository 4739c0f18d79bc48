import { startFlow } from '../run/flow.ts'
import type { Row } from '../run/row.ts'
import { putLoad, writePlan } from '../run/wrk.ts'
import { checkPolled } from '../tally/checkPolled.ts'
import { type PolledTally, polled } from '../tally/polled.ts'
import { besideCeiling } from './besideCeiling.ts'

const perSecond = 500
const changedEvents = 200

/** As polling, while orders change the events that are polled most; both sides are measured during the same flow. */
export const pollingLive: Row = {
  name: 'polling-live',
  about: 'polling while 500 orders/s change 200 of the events, against the ceiling under the same flow',
  shares: polled,
  needsWrk: true,
  async run(bench) {
    const use = await polled.get(bench)
    const events = mostPolled(use).slice(0, changedEvents)
    const plan = writePlan(
      bench,
      use.questions.map(({ path, token }) => ({ path, token })),
      use.order,
    )
    const addresses = { tally: use.tally.query.address, ceiling: use.ceilingAddress }
    const result = await besideCeiling(
      bench,
      { row: 'polling-live', atLeast: 0.9 },
      async (side, connections) => {
        await checkPolled(use, addresses[side], 'whole')
        const flow = await startFlow(bench, use.data, { events, perSecond, next: use.nextOrder })
        try {
          return await putLoad(addresses[side], plan, { connections, seconds: bench.options.seconds })
        } finally {
          await flow.stop()
          await use.learn(events)
        }
      },
    )
    await use.learn(mostPolled(use))
    return result
  },
}

/** Numbers of all events that are polled, the one that is polled most first. */
function mostPolled({ questions, order, data }: PolledTally): number[] {
  const questionsOfAnEvent = questions.length / data.shape.ordersByEvent.length
  const polls = data.shape.ordersByEvent.map(() => 0)
  for (const index of order) {
    const event = Math.floor(index / questionsOfAnEvent)
    polls[event] = (polls[event] ?? 0) + 1
  }
  return [...polls.keys()].sort((one, other) => (polls[other] ?? 0) - (polls[one] ?? 0))
}
