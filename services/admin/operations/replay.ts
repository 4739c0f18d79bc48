import { noteBothEnds } from '@tally/access'
import {
  type DeadLetter,
  isDeadLetterId,
  olderThan,
  type ReplayDeps,
  readNewest,
  replayAll,
  replayDeadLetters,
} from '@tally/dead-letters'
import { type KafkaConnection, openProducer } from '@tally/kafka'
import { isTransient, type Postgres, reasonOf } from '@tally/platform'
import type { FastifyInstance } from 'fastify'
import type { AdminDeps } from '../deps.ts'
import { formFields, listOf, textOf } from '../http/forms.ts'
import { badForm, PageProblem } from '../http/problem.ts'
import { platformSessionOf } from '../signIn/guard.ts'

const busyReplaying = () =>
  new PageProblem(409, 'A replay is running', 'Wait until it ends, then check which dead letters are left.')

/** Replays selected dead letters, or all, and leads back to the operations page. */
export function replayPages(area: FastifyInstance, { db, kafka, topicPrefix, logger }: AdminDeps): void {
  // Each replay holds a connection to Postgres while Kafka answers: eight would leave none for the other pages.
  let isReplaying = false

  area.post('/operations/replay', async (request, reply) => {
    const session = platformSessionOf(request)
    const fields = formFields(request)
    const ids = listOf(fields, 'id')
    const wantsAll = textOf(fields, 'all') === 'yes'
    if (!ids.every(isDeadLetterId)) throw badForm()
    if (!wantsAll && ids.length === 0)
      throw new PageProblem(400, 'Nothing selected', 'Go back and select the dead letters to replay.')
    const of = wantsAll ? 'all' : ids.join(', ').slice(0, 500)
    if (isReplaying) throw busyReplaying()
    isReplaying = true
    const { administratorId } = session
    logger.info({ administratorId, of }, 'a replay of dead letters begins')
    const { sent, refused } = await noteBothEnds(db, session, {
      work: 'replay',
      of,
      run: () => withProducer(replay => replayThem(replay, wantsAll ? undefined : ids)),
      outcome: ({ sent, refused }) => `${of}: ${sent} sent, ${refused} refused`,
    }).finally(() => {
      isReplaying = false
    })
    logger.info({ administratorId, sent, refused }, 'a replay of dead letters has ended')
    return reply.redirect(`/operations?replayed=${sent}${refused > 0 ? `&refused=${refused}` : ''}`, 303)
  })

  /** Opens a producer for one replay: replays are rare, and the other pages do not need Kafka. */
  async function withProducer<Result>(work: (replay: ReplayDeps) => Promise<Result>): Promise<Result> {
    try {
      const producer = await openProducer(kafka)
      return await work({ kafka, producer, db, topicPrefix }).finally(() => producer.close())
    } catch (error) {
      logger.warn({ err: error }, 'dead letters were not replayed')
      if (!isTransient(error)) throw error
      const why = `${reasonOf(error)}. Try again: a record that is sent twice counts once.`
      throw new PageProblem(503, 'Replay incomplete', why, 5)
    }
  }
}

async function replayThem(replay: ReplayDeps, ids: string[] | undefined) {
  if (ids === undefined) {
    const { sent, refusedCount } = await replayAll(replay)
    return { sent, refused: refusedCount }
  }
  const { sent, refused } = await replayDeadLetters(replay, ids)
  return { sent: sent.length, refused: refused.length }
}

/** Dead letters per page, and how many are counted by reason: reading those takes about 0.1 s. */
const shownCount = 50
const countedCount = 1_000
/** Replayed dead letters stay in the topic: a page ends after this many records, and the next one continues. */
const mostRead = 5_000

type ShownDeadLetter = Pick<DeadLetter, 'id' | 'reason' | 'message' | 'atMs'>
export type DeadLettersPage = {
  byReason: Map<string, number>
  /** The newest first. */
  shown: ShownDeadLetter[]
  /** Whether nothing newer was left out, and whether nothing older was left out. */
  isNewest: boolean
  isWhole: boolean
  /** The cursor for the page after this one, if there may be one. */
  older: string | undefined
}

/**
 * Reads a page of the dead letters that were not replayed, the newest first or those before a cursor; never a value or
 * a key. Costs the same however many dead letters the topic holds.
 */
export async function readDeadLettersPage(
  { topicPrefix, ...deps }: { kafka: KafkaConnection; db: Postgres; topicPrefix: string },
  before: string | undefined,
): Promise<DeadLettersPage> {
  const newest = await readNewest(deps, topicPrefix, { limit: countedCount, before, mostRead })
  const { entries } = newest
  const ofReasons = Map.groupBy(entries, ({ reason }) => reason)
  return {
    byReason: new Map([...ofReasons].map(([reason, letters]) => [reason, letters.length])),
    shown: entries.slice(0, shownCount),
    isNewest: before === undefined,
    isWhole: newest.until === undefined,
    older: olderThan(newest, shownCount),
  }
}
