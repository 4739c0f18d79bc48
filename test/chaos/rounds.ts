import { setTimeout as pause } from 'node:timers/promises'
import type { Fault } from './fault.ts'
import { faults as allFaults } from './faults/index.ts'
import {
  type Checking,
  checkAnswers,
  checkDeadLetterOffsets,
  checkDeadLetters,
  untilFresh,
} from './checking.ts'
import { type Feeding, openFeeding } from './feeding.ts'
import { openGenerations } from './generations.ts'
import { type Load, openLoad } from './load.ts'
import { revisionIn, startPolling } from './polling.ts'
import { randomFrom } from './random.ts'
import { startSystem, type System } from './system.ts'
import { collectWrongs, type Wrong, type Wrongs } from './wrong.ts'

export type Round = {
  fault: string
  /** Records that Kafka got from the beginning of the fault until all of them were counted. */
  records: number
  compared: number
  wrong: number
  lastedMs: number
  /** From the end of the fault until every event's `asOf` was later than that; undefined: it never came. */
  recoveryMs: number | undefined
}

export type Outcome = {
  seed: number
  rounds: Round[]
  wrongs: Wrong[]
  records: number
  badRecords: number
  answers: number
  unavailable: number
  wholeBatches: number
  backAcrossProcesses: number
}

export type RunWanted = {
  seed: number
  /** How many faults; each kind as often as the others, in an order that the seed decides. */
  count: number
  /** The kinds by name; all of them unless told otherwise. */
  only?: (fault: Fault) => boolean
  /** Records a second. */
  rate?: number
  folder: string
  log: (line: string) => void
  signal?: AbortSignal
}

/** Faults until the next set of events. */
const faultsAGeneration = 8
const recoverWithinMs = 120_000

/**
 * Injects faults, one after the other, while the load runs and readers poll. After each: waits until the answers are
 * fresh again, stops the load, waits until all of it is counted, and compares every answer of this set of events and of
 * the last with a brute-force count; at the end, of all. Throws where the records do not become counted at all.
 */
export async function runFaults(wanted: RunWanted): Promise<Outcome> {
  const { seed, count, rate = 400, folder, log, signal, only = () => true } = wanted
  const wrongs = collectWrongs(log)
  const releases: (() => Promise<unknown>)[] = []
  try {
    const system = await startSystem({ folder, log, ...(signal && { signal }) })
    releases.push(system.stop)
    const load = openLoad(seed)
    const feeding = await openFeeding(system, load, rate)
    releases.push(feeding.close)
    const tokenOf = await makeKeys(system, load, feeding)
    const generations = openGenerations(load, feeding.book)
    const checking: Checking = { system, feeding, wrongs, random: randomFrom(seed, 'questions'), tokenOf }
    const isFresh = (sinceMs: number, eventIds = generations.current) =>
      untilFresh(checking, { eventIds, sinceMs, withinMs: recoverWithinMs })

    feeding.resume()
    if ((await isFresh(Date.now())) === undefined)
      throw new Error('the answers did not become fresh before the first fault')
    // Those that were fresh once: a new event is unknown until its record is counted.
    let polled = generations.current()
    const polling = startPolling({
      queries: () => system.queries,
      targets: () =>
        polled.map(eventId => ({ eventId, token: tokenOf(eventId), grows: generations.grows(eventId) })),
      revisionOf: eventId => revisionIn(system.db, eventId),
      random: randomFrom(seed, 'polling'),
      wrongs,
    })
    releases.push(polling.stop)

    const moments = randomFrom(seed, 'moments')
    const rounds: Round[] = []
    for (const [index, fault] of deckOf(seed, count, only, system).entries()) {
      signal?.throwIfAborted()
      const wrongBefore = wrongs.list.length
      await fault.prepare?.(system)
      feeding.resume()
      await pause(moments.whole(200, 1_500))
      const sentBefore = feeding.sent()
      log(`${index + 1}/${count} ${fault.name}`)
      polling.allow(fault.allows)
      const beganMs = Date.now()
      await fault.run(system, randomFrom(seed, `fault ${index}`))
      polling.allow('everything')
      const endedMs = Date.now()
      const recoveryMs = await isFresh(endedMs)
      if (recoveryMs === undefined)
        wrongs.add('nothing needs a restart', `${fault.name}: not fresh after ${recoverWithinMs / 1000} s`)
      const lastMs = await feeding.pause()
      // All that are compared: the events of the last set may lie in other shards than those of this one.
      if ((await isFresh(lastMs + 1, generations.latest)) === undefined)
        throw new Error(`after "${fault.name}" the records are not counted; see the logs in ${folder}`)
      polled = generations.current()
      const compared = await checkAnswers(checking, generations.latest())
      await checkDeadLetters(checking)
      await makeWhole(system, wrongs)
      rounds.push({
        fault: fault.name,
        records: feeding.sent() - sentBefore,
        compared,
        wrong: wrongs.list.length - wrongBefore,
        lastedMs: endedMs - beganMs,
        recoveryMs,
      })
      log(lineOf(rounds.at(-1) as Round))
      if ((index + 1) % faultsAGeneration === 0 && index + 1 < count) generations.next()
    }
    await polling.stop()
    await checkAnswers(checking, generations.all())
    const badRecords = await checkDeadLetterOffsets(checking)
    return { seed, rounds, wrongs: wrongs.list, records: feeding.sent(), badRecords, ...polling.seen() }
  } finally {
    for (const release of releases.reverse()) await release()
  }
}

/** Tells the organizations, and makes a key of each; returns what tells the token for an event. */
async function makeKeys(system: System, load: Load, feeding: Feeding): Promise<(eventId: string) => string> {
  const tokens = new Map<string, string>()
  const organizations = load.organizations()
  await feeding.send(organizations.map(record => ({ record, isBad: false })))
  for (const { value } of organizations)
    tokens.set(value.organizationId, await system.key(value.organizationId))
  return eventId => tokens.get(feeding.book.organizationOf(eventId)) ?? ''
}

/** Nothing may have ended by itself; what did is started again, so that the next fault meets a whole system. */
async function makeWhole(system: System, wrongs: Wrongs): Promise<void> {
  for (const death of system.deaths.splice(0)) wrongs.add('nothing ends by itself', death)
  if (system.projectors.length === 0) await system.startProjector()
  while (system.queries.length < 2) await system.startQuery()
}

function lineOf({ records, compared, wrong, lastedMs, recoveryMs }: Round): string {
  const fresh = recoveryMs === undefined ? 'never fresh' : `fresh ${seconds(recoveryMs)} s after`
  return `   ${records} records, ${compared} answers compared, ${wrong} wrong, lasted ${seconds(lastedMs)} s, ${fresh}`
}

const seconds = (ms: number) => (ms / 1000).toFixed(1)

/** All kinds that are possible, shuffled, again and again. */
function deckOf(seed: number, count: number, only: (fault: Fault) => boolean, system: System): Fault[] {
  const random = randomFrom(seed, 'deck')
  const kinds = allFaults.filter(fault => only(fault) && (fault.isPossible?.(system) ?? true))
  const deck: Fault[] = []
  while (deck.length < count) deck.push(...random.shuffled(kinds))
  return deck.slice(0, count)
}
