import type { Random } from '@tally/testkit/random'
import { checkAnswers } from '../checks/checking.ts'
import { untilSent } from '../load/feeding.ts'
import type { Fault } from '../run/fault.ts'
import { copyPostgres } from '../system/postgresCopy.ts'

/** The time until lost records are read again and everything is exact (docs/reliability.md, Postgres). */
const recoverTimeoutMs = 30_000

const aWhile = (random: Random) => random.whole(50, 2_000)

/** Postgres returns to its state of some records ago; answers may go back, but none may claim more than it contains. */
export const lostCommitFaults: Fault[] = [
  {
    name: 'Postgres goes back to an older state under load',
    allows: 'no-orders',
    mayGoBack: true,
    recoverTimeoutMs,
    async run(system, random, { feeding }) {
      const copy = await copyPostgres(system)
      await untilSent(feeding, feeding.sent() + aWhile(random))
      await copy.putBack({ promoted: random.chance(0.5) })
    },
  },
  {
    name: 'Postgres goes back to an older state while no record arrives',
    allows: 'no-orders',
    mayGoBack: true,
    recoverTimeoutMs,
    async run(system, random, tools) {
      const { feeding, wrongs } = tools
      const copy = await copyPostgres(system)
      await untilSent(feeding, feeding.sent() + aWhile(random))
      const lastMs = await feeding.pause()
      await tools.isFresh({ sinceMs: lastMs + 1, timeoutMs: recoverTimeoutMs })
      await copy.putBack({ promoted: random.chance(0.5) })
      const wanted = { sinceMs: Date.now(), timeoutMs: recoverTimeoutMs }
      if (!(await tools.isFresh(wanted)))
        wrongs.add('lost commits are read again within 30 s', 'not fresh while no record comes')
      await checkAnswers(tools, tools.eventIds())
    },
  },
]
