import { setTimeout as sleep } from 'node:timers/promises'
import { ask } from '@tally/testkit/processes/http'
import type { Random } from '@tally/testkit/random'
import type { Feeding } from '../load/feeding.ts'
import type { System } from '../system/system.ts'
import { differenceOf } from './difference.ts'
import type { Etags } from './etags.ts'
import type { Wrongs } from './wrong.ts'

const atOnce = 8

export type Checking = {
  system: System
  feeding: Feeding
  wrongs: Wrongs
  random: Random
  tokenOf: (eventId: string) => string
  etags?: Etags
}

/** Waits until every event in each query process is counted up to a moment; returns the milliseconds, or undefined. */
export async function untilFresh(
  { system, tokenOf }: Checking,
  { eventIds, sinceMs, timeoutMs }: { eventIds: () => string[]; sinceMs: number; timeoutMs: number },
): Promise<number | undefined> {
  const began = Date.now()
  const isFresh = async (eventId: string, address: string): Promise<boolean> => {
    const late = sleep(5_000, undefined, { ref: false })
    const reply = await Promise.race([
      ask(address, `/api/v1/events/${eventId}/analytics/kpis`, { token: tokenOf(eventId) }),
      late,
    ]).catch(() => undefined)
    return reply?.status === 200 && Date.parse(reply.body.meta.asOf ?? 0) >= sinceMs
  }
  // With no projector it never comes.
  while (Date.now() < began + timeoutMs && system.projectors.length > 0) {
    const asked = system.queries.flatMap(({ address }) =>
      eventIds().map(eventId => isFresh(eventId, address)),
    )
    if ((await Promise.all(asked)).every(Boolean)) return Date.now() - began
    await sleep(50)
  }
  return undefined
}

/** Compares every answer about these events with the brute-force count; returns how many were compared. */
export async function checkAnswers(checking: Checking, eventIds: string[]): Promise<number> {
  const { system, feeding, wrongs, random, tokenOf, etags } = checking
  const questions = eventIds.flatMap(eventId =>
    feeding.book.answers(eventId).map(expected => ({ eventId, ...expected })),
  )
  const left = questions[Symbol.iterator]()
  const worker = async () => {
    for (const { eventId, path, ...expected } of left) {
      const query = random.of(system.queries)
      const url = `/api/v1/events/${eventId}${path}`
      const where = `${path} of ${eventId} at ${query.name}`
      const reply = await ask(query.address, url, { token: tokenOf(eventId) })
      if (reply.status === 200) etags?.note(url, reply, where)
      const difference = differenceOf(expected, reply)
      if (difference !== undefined) wrongs.add('every answer equals the count', `${where}: ${difference}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return questions.length
}

/** Waits until the list of events of each organization is right, in each query process. */
export async function checkLists(
  { system, feeding: { book }, wrongs, tokenOf }: Checking,
  eventIds: string[],
  timeoutMs: number,
): Promise<void> {
  const owners = new Map(eventIds.map(eventId => [book.organizationOf(eventId), eventId]))
  const checkOne = async ([organizationId, eventId]: [string, string], address: string, name: string) => {
    for (const until = Date.now() + timeoutMs; ; await sleep(50)) {
      const reply = await ask(address, '/api/v1/events', { token: tokenOf(eventId) })
      const difference = differenceOf({ data: book.eventList(organizationId) }, reply)
      if (difference === undefined) return
      if (Date.now() < until) continue
      return wrongs.add('the list of events equals the count', `${organizationId} at ${name}: ${difference}`)
    }
  }
  await Promise.all(
    system.queries.flatMap(({ address, name }) => [...owners].map(owner => checkOne(owner, address, name))),
  )
}

/** Waits until a process reports on `/readyz` (503) what is wrong; false if none did in time. */
export async function reportsOnReadyz(
  { projectors, queries }: System,
  sentence: RegExp,
  timeoutMs: number,
): Promise<boolean> {
  for (const until = Date.now() + timeoutMs; ; await sleep(100)) {
    const asked = [...projectors, ...queries].map(({ ops }) => ask(ops, '/readyz').catch(() => undefined))
    const replies = await Promise.all(asked)
    if (replies.some(reply => reply?.status === 503 && sentence.test(reply.text))) return true
    if (Date.now() > until) return false
  }
}
