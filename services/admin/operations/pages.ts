import { noteBothEnds } from '@tally/access'
import { isCursor, isDeadLetterId, type ReplayDeps, replayAll, replayDeadLetters } from '@tally/dead-letters'
import { openProducer } from '@tally/kafka'
import { timeout } from '@tally/runtime'
import type { FastifyInstance } from 'fastify'
import { readAudit } from '../audit/store.ts'
import type { AdminDeps } from '../deps.ts'
import { fieldsOf, listOf, textOf } from '../http/forms.ts'
import { formatOf } from '../http/locale.ts'
import { sendPage } from '../http/page.ts'
import { badForm, PageProblem } from '../http/problem.ts'
import { platformSessionOf } from '../signIn/guard.ts'
import { counted, type Format } from '../views/format.ts'
import { readDeadLettersPage } from './deadLetters.ts'
import { readHeldBack, readLastRebuild, readShards, readStalled, readVersions } from './read.ts'
import { operationsView } from './view.ts'

/** How long a page waits for Kafka. */
const patienceMs = 5_000
const shownCommands = 10

const busyReplaying = () =>
  new PageProblem(409, 'A replay is running', 'Wait until it ends, then check which dead letters are left.')

/** The operations page of the platform team. It covers all organizations, so other administrators get a 404. */
export function operationsPages(area: FastifyInstance, deps: AdminDeps): void {
  const { db, kafka, topicPrefix, logger } = deps
  // Each replay holds a connection to Postgres while Kafka answers: eight would leave none for the other pages.
  let isReplaying = false

  area.get<{ Querystring: { replayed?: string; refused?: string; before?: string } }>(
    '/operations',
    async (request, reply) => {
      platformSessionOf(request)
      const { before } = request.query
      if (before !== undefined && !isCursor(before)) throw badForm()
      const [shards, found, rebuild, versions, stalled, heldBack, commands] = await Promise.all([
        readShards(deps),
        timeout(patienceMs, readDeadLettersPage(deps, before)).catch(() => undefined),
        readLastRebuild(db),
        readVersions(deps),
        readStalled(deps),
        readHeldBack(deps),
        readAudit(db, null, { limit: shownCommands }),
      ])
      const format = formatOf(request)
      const notice = noticeOf(request.query, format)
      return sendPage(request, reply, csrf => ({
        title: 'Operations',
        section: 'operations',
        notice,
        body: operationsView(
          { shards, deadLetters: found, rebuild, versions, stalled, heldBack, commands },
          { csrf, format },
        ),
      }))
    },
  )

  area.post('/operations/replay', async (request, reply) => {
    const session = platformSessionOf(request)
    const fields = fieldsOf(request)
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
    const { sent, refused } = await noteBothEnds(
      db,
      { ...session, address: request.ip },
      {
        work: 'replay',
        of,
        run: () => withProducer(replay => replayThem(replay, wantsAll ? undefined : ids)),
        outcome: ({ sent, refused }) => `${of}: ${sent} sent, ${refused} refused`,
      },
    ).finally(() => {
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
      throw new PageProblem(
        503,
        'Replay incomplete',
        'Kafka or Postgres did not answer. Try again: nothing is sent twice.',
        5,
      )
    }
  }
}

/** Replays these dead letters, or all. */
async function replayThem(replay: ReplayDeps, ids: string[] | undefined) {
  if (ids === undefined) {
    const { sent, refusedCount } = await replayAll(replay)
    return { sent, refused: refusedCount }
  }
  const { sent, refused } = await replayDeadLetters(replay, ids)
  return { sent: sent.length, refused: refused.length }
}

/** The result of a replay, read from its redirect. */
function noticeOf(
  { replayed = '', refused = '' }: { replayed?: string; refused?: string },
  { whole }: Format,
): string | undefined {
  const isCount = (text: string): boolean => /^\d{1,9}$/.test(text)
  if (!isCount(replayed)) return undefined
  const sent = `${counted(Number(replayed), 'dead letter', whole)} replayed. A record that fails again comes back under a new id.`
  if (!isCount(refused)) return sent
  return `${sent} ${counted(Number(refused), 'dead letter', whole)} cannot be replayed: the value is too large, or no longer in its topic. Run tally dead-letters replay to see which.`
}
