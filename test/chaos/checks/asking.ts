import { setTimeout as sleep } from 'node:timers/promises'
import { ask, type Reply } from '@tally/testkit/processes/http'
import type { Random } from '@tally/testkit/random'
import { openRules, type Rule } from './allowed.ts'
import type { Claims } from './claims.ts'
import { type Etags, openEtags } from './etags.ts'
import { openNeverBack } from './neverBack.ts'
import type { Wrongs } from './wrong.ts'

export type Target = { eventId: string; token: string; grows: boolean }

/** A query process; one that is ended or frozen on purpose may leave questions without an answer. */
export type Polled = {
  name: string
  address: string
  hasEnded?: () => boolean
  isUnwanted?: () => boolean
  isFrozen?: () => boolean
}

export type AskingDeps = {
  random: Random
  wrongs: Wrongs
  /** Every ETag of the run; by default only those of this polling. */
  etags?: Etags
  /** Checks every answer against its `asOf`. */
  claims?: Claims
}

export type Asking = {
  /** Asks one view; undefined if there is nothing to check. */
  get: (query: Polled, target: Target, path: string) => Promise<Reply | undefined>
  /** Applies from now on; questions from before, or within the time to recover, may be answered under the old rule. */
  allow: (rule: Rule) => void
  mayGoBack: (askedMs: number) => boolean
  seen: () => { answers: number; unchanged: number; unavailable: number; backAcrossProcesses: number }
}

/** Four times 5 s: what this process itself is busy for, such as to make the largest records, counts once at most. */
const waitMs = 5_000
async function answerTimeout(): Promise<undefined> {
  for (let waits = 0; waits < 4; waits++) await sleep(waitMs, undefined, { ref: false })
}
/** The share of questions that name the ETag of an earlier answer of any process. */
const conditional = 0.3
const numbers = ['asOf', 'totalOrders', 'totalSales', 'totalItemsSold']

/** Asks one question at a time and judges the answer by itself: status, ETag, `asOf`, and that nothing goes back. */
export function openAsking({ random, wrongs, etags = openEtags(wrongs), claims }: AskingDeps): Asking {
  const rules = openRules()
  const neverBack = openNeverBack(rules, wrongs)
  const seen = { answers: 0, unchanged: 0, unavailable: 0 }

  const answerOf = async (
    query: Polled,
    where: string,
    asked: Promise<Reply>,
  ): Promise<Reply | undefined> => {
    try {
      const reply = await Promise.race([asked, answerTimeout()])
      if (reply === undefined && !isGone(query)) wrongs.add('an answer within 20 s', where)
      return reply
    } catch (error) {
      // A process that is killed breaks its connections; any other must not.
      await sleep(100)
      if (!isGone(query)) wrongs.add('an answer', `${where}: ${String(error)}`)
      return undefined
    }
  }

  const get: Asking['get'] = async (query, { eventId, token, grows }, path) => {
    const askedMs = Date.now()
    const before = neverBack.before(
      numbers.map(what => `${what} of ${eventId}`),
      query.name,
    )
    const where = `${path} of ${eventId} at ${query.name}`
    const url = `/api/v1/events/${eventId}${path}`
    const known = random.chance(conditional) ? etags.last(url) : undefined
    const headers = known === undefined ? {} : { 'If-None-Match': String(known.headers.etag) }
    const reply = await answerOf(query, where, ask(query.address, url, { token, headers }))
    if (reply === undefined) return undefined
    seen.answers++
    if (reply.status === 503 && rules.mayFail(path, askedMs)) {
      seen.unavailable++
      if (!(Number(reply.headers['retry-after']) >= 1)) wrongs.add('a 503 says Retry-After', where)
      return undefined
    }
    if (reply.status === 404 && rules.mayLack(askedMs)) return undefined
    const isSame = reply.status === 304 && known?.headers.etag === reply.headers.etag
    if (reply.status !== 200 && !isSame) {
      wrongs.add('only what the table allows', `${where}: ${reply.status} ${reply.text.slice(0, 300)}`)
      return undefined
    }
    if (isSame) seen.unchanged++
    else etags.note(url, reply, where)
    const whole = isSame && known !== undefined ? etags.unchanged(known, reply) : reply
    claims?.check({ eventId, path, where }, whole)
    const { data, meta } = whole.body
    const said = {
      asOf: Date.parse(meta.asOf ?? '1970-01-01'),
      ...(grows && path === '/analytics/kpis' && data),
    }
    for (const number of numbers.filter(number => number in said)) {
      const one = { what: `${number} of ${eventId}`, process: query.name, value: said[number], where }
      neverBack.check(one, before, askedMs)
    }
    return whole
  }
  return {
    get,
    allow: rules.set,
    mayGoBack: rules.mayGoBack,
    seen: () => ({ ...seen, backAcrossProcesses: neverBack.acrossProcesses() }),
  }
}

export const isGone = ({ hasEnded, isUnwanted, isFrozen }: Polled) =>
  [hasEnded, isUnwanted, isFrozen].some(is => is?.() === true)
