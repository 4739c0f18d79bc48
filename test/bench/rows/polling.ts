import type { Bench } from '../run/bench.ts'
import type { Row } from '../run/row.ts'
import { putLoad, writePlan } from '../run/wrk.ts'
import { checkPolled, checkSizes, type Expected } from '../tally/checkPolled.ts'
import { polled } from '../tally/polled.ts'
import { besideCeiling } from './besideCeiling.ts'

/** Many devices ask many questions with many keys: whole answers, against one GET of each question's own bytes. */
export const polling: Row = {
  name: 'polling',
  about: 'four questions about 5,000 events by 1,000 keys, against bare fastify with one Redis GET of each',
  shares: polled,
  needsWrk: true,
  run: bench => comparePolling(bench, { row: 'polling', expected: 'whole', atLeast: 0.9 }),
}

/** The same devices send the ETag of the answer that they have, and nothing changes. */
export const pollingUnchanged: Row = {
  name: 'polling-304',
  about: 'the same with If-None-Match, all 304, against the whole answers of the ceiling',
  shares: polled,
  needsWrk: true,
  run: bench => comparePolling(bench, { row: 'polling-304', expected: 'unchanged', atLeast: 1.3 }),
}

type Compared = { row: string; expected: Expected; atLeast: number }

async function comparePolling(bench: Bench, { row, expected, atLeast }: Compared) {
  const use = await polled.get(bench)
  const whole = writePlan(
    bench,
    use.questions.map(({ path, token }) => ({ path, token })),
    use.order,
  )
  const sides = {
    tally: {
      address: use.tally.query.address,
      expected,
      plan: expected === 'whole' ? whole : writePlan(bench, use.questions, use.order),
    },
    ceiling: { address: use.ceilingAddress, expected: 'whole', plan: whole },
  } as const
  return besideCeiling(bench, { row, atLeast }, async (side, connections) => {
    const { address, expected, plan } = sides[side]
    await checkPolled(use, address, expected)
    const load = await putLoad(address, plan, { connections, seconds: bench.options.seconds })
    const reply = await checkPolled(use, address, expected)
    checkSizes(use, { load, reply, expected })
    return load
  })
}
