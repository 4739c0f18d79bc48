import { randomFrom } from '@tally/testkit/random'
import { type Checking, checkAnswers, checkLists } from '../checks/checking.ts'
import { untilSent } from '../load/feeding.ts'
import type { System } from '../system/system.ts'
import type { Fault } from './fault.ts'
import type { Round } from './outcome.ts'
import { type Run, recoverTimeoutMs } from './run.ts'

const listsTimeoutMs = 5_000

/** Runs one fault: the quiet time before it, the damage, and the checks after it. */
export async function injectFault<On extends System>(
  run: Run<On>,
  fault: Fault<On>,
  index: number,
): Promise<Round> {
  const { wanted, rate, system, feeding, polling, generations, wrongs, freshAfter } = run
  const startedMs = Date.now()
  const wrongBefore = wrongs.list.length
  const random = randomFrom(wanted.seed, `fault ${index} ${wanted.piece?.number ?? 1}`)
  await fault.prepare?.(system)
  feeding.resume()
  await generations.begun()
  await untilSent(feeding, feeding.sent() + random.whole(rate / 10, rate))

  const sentBefore = feeding.sent()
  const { mayGoBack } = fault
  polling.allow({ answers: fault.allows, mayGoBack })
  const beganMs = Date.now()
  await fault
    .run(system, random, run)
    .catch(error => wrongs.add('a fault goes as planned', String(error?.stack ?? error)))
  feeding.resume()
  polling.allow({ answers: 'everything', mayGoBack })
  const endedMs = Date.now()
  const recoveryMs = await freshAfter(endedMs)
  if (recoveryMs === undefined || recoveryMs > (fault.recoverTimeoutMs ?? recoverTimeoutMs))
    wrongs.add('nothing needs a restart', `${fault.name}: fresh after ${recoveryMs ?? 'no'} ms`)
  // Otherwise records of a process that has ended would never be counted.
  if (recoveryMs === undefined) await makeWhole(run)
  polling.allow({ answers: 'everything' })

  const lastMs = await feeding.pause()
  // All compared events: those of the last set may be in other shards.
  if ((await freshAfter(lastMs + 1, generations.latest)) === undefined)
    throw new Error(`after "${fault.name}" the records are not counted; see the logs in ${wanted.folder}`)
  run.pollCurrent()
  const compared = await checkAnswers(run, generations.latest())
  await checkLists(run, generations.latest(), fault.listsTimeoutMs ?? listsTimeoutMs)
  await makeWhole(run)
  return {
    fault: fault.name,
    records: feeding.sent() - sentBefore,
    compared,
    wrong: wrongs.list.length - wrongBefore,
    lastedMs: endedMs - beganMs,
    recoveryMs,
    tookMs: Date.now() - startedMs,
  }
}

/** No process may have ended by itself; one that did is started again: the next fault must meet a complete system. */
async function makeWhole({ system, wrongs }: Checking): Promise<void> {
  for (const death of system.deaths.splice(0)) wrongs.add('nothing ends by itself', death)
  if (system.projectors.length === 0) await system.startProjector()
  while (system.queries.length < 2) await system.startQuery()
}
