import { randomFrom } from '@tally/testkit/random'
import { type Checking, untilFresh } from '../checks/checking.ts'
import { type Claims, openClaims } from '../checks/claims.ts'
import { type Etags, openEtags } from '../checks/etags.ts'
import { type Generations, openGenerations } from '../checks/generations.ts'
import { revisionIn, startPolling } from '../checks/polling.ts'
import { collectWrongs } from '../checks/wrong.ts'
import { type Feeding, openFeeding } from '../load/feeding.ts'
import { type Load, openLoad } from '../load/load.ts'
import type { System, SystemWanted } from '../system/system.ts'
import type { Piece } from './deck.ts'
import type { Fault, FaultTools } from './fault.ts'

export type RunWanted<On extends System> = {
  start: (wanted: SystemWanted) => Promise<On>
  seed: number
  /** How many faults; each kind as often as the others, in an order that the seed decides. */
  count: number
  kinds: Fault<On>[]
  /** The piece of several concurrent runs that share the faults, each with servers of its own. */
  piece?: Piece
  /** Records a second. */
  rate?: number
  /** How many readers poll; 3 by default. */
  readers?: number
  folder: string
  log: (line: string) => void
  signal?: AbortSignal
}

/** A system under load, with constant questions and checks. */
export type Run<On extends System> = FaultTools & {
  system: On
  wanted: RunWanted<On>
  rate: number
  generations: Generations
  etags: Etags
  claims: Claims
  /** Waits until these events are fresh after a time; returns how long that took, or undefined. */
  freshAfter: (sinceMs: number, eventIds?: () => string[]) => Promise<number | undefined>
  /** From now on questions are about events of the current set: a new one is unknown until its record is counted. */
  pollCurrent: () => void
}

/** The longest time until everything must be right again. */
export const recoverTimeoutMs = 120_000

/** Starts everything; `releases` gets the functions that stop it, in order. */
export async function openRun<On extends System>(
  wanted: RunWanted<On>,
  releases: (() => Promise<unknown>)[],
): Promise<Run<On>> {
  const { seed, rate = 400, readers = 3, folder, log, signal } = wanted
  const wrongs = collectWrongs(log)
  const system = await wanted.start({ folder, log, ...(signal && { signal }) })
  releases.push(system.stop)
  const load = openLoad(seed)
  const feeding = await openFeeding(system, load, rate)
  releases.push(feeding.close)
  const tokenOf = await makeKeys(system, load, feeding)
  const { book, journal } = feeding
  const generations = openGenerations(load, book)
  const etags = openEtags(wrongs)
  const claims = openClaims({ book, journal, wrongs })
  const questions = randomFrom(seed, 'questions')
  const checking: Checking = { system, feeding, wrongs, random: questions, tokenOf, etags }
  const freshAfter = (sinceMs: number, eventIds = generations.current, timeoutMs = recoverTimeoutMs) =>
    untilFresh(checking, { eventIds, sinceMs, timeoutMs })

  feeding.resume()
  await generations.begun()
  if ((await freshAfter(Date.now())) === undefined)
    throw new Error('the answers did not become fresh before the first fault')
  let polled = generations.current()
  const random = randomFrom(seed, 'polling')
  const polling = startPolling({
    queries: () => system.queries,
    targets: () =>
      polled.map(eventId => ({ eventId, token: tokenOf(eventId), grows: generations.grows(eventId) })),
    revisionOf: eventId => revisionIn(system.db, eventId),
    orderOf(eventId, asOfMs) {
      const orders = journal.ordersBefore(eventId, asOfMs, 50)
      return orders.length === 0 ? undefined : random.of(orders)
    },
    random,
    wrongs,
    etags,
    claims,
    readers,
  })
  releases.push(polling.stop)
  return {
    ...checking,
    system,
    wanted,
    rate,
    generations,
    etags,
    claims,
    polling,
    freshAfter,
    pollCurrent() {
      polled = generations.current()
    },
    eventIds: generations.current,
    isFresh: async ({ sinceMs, timeoutMs, eventIds = generations.current() }) =>
      (await freshAfter(sinceMs, () => eventIds, timeoutMs)) !== undefined,
  }
}

/** Sends the organizations and creates a key for each; returns a function from an event to its token. */
async function makeKeys(system: System, load: Load, feeding: Feeding): Promise<(eventId: string) => string> {
  const tokens = new Map<string, string>()
  const organizations = load.organizations()
  await feeding.send(organizations.map(record => ({ record, isBad: false })))
  for (const { value } of organizations)
    tokens.set(value.organizationId, await system.key(value.organizationId))
  return eventId => tokens.get(feeding.book.organizationOf(eventId)) ?? ''
}
