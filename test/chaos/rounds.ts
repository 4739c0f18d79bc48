import { type Checking, checkAnswers, checkLists, untilFresh } from './checking.ts'
import { openClaims } from './claims.ts'
import { checkDeadLetterOffsets, checkDeadLetters } from './deadLetters.ts'
import { deckOf, type Piece } from './deck.ts'
import { openEtags } from './etags.ts'
import type { Fault, FaultTools } from './fault.ts'
import { type Feeding, openFeeding, untilSent } from './feeding.ts'
import { openGenerations } from './generations.ts'
import { type Load, openLoad } from './load.ts'
import { lineOf, type Outcome, type Round } from './outcome.ts'
import { revisionIn, startPolling } from './polling.ts'
import { randomFrom } from './random.ts'
import { startSystem, type System } from './system.ts'
import { collectWrongs, type Wrongs } from './wrong.ts'

export type RunWanted = {
  seed: number
  /** How many faults; each kind as often as the others, in an order that the seed decides. */
  count: number
  kinds: Fault[]
  /** Of several runs beside each other that share the faults, each with servers of its own. */
  piece?: Piece
  /** Records a second. */
  rate?: number
  folder: string
  log: (line: string) => void
  signal?: AbortSignal
}

/** Faults until the next set of events. */
const faultsAGeneration = 8
const recoverWithinMs = 120_000
const listsWithinMs = 5_000

/**
 * Injects faults, one after the other, while the load runs and readers poll. After each: waits until the answers are
 * fresh again, stops the load, waits until all of it is counted, and compares every answer of this set of events and of
 * the last with a brute-force count; at the end, of all. Throws where the records do not become counted at all.
 */
export async function runFaults(wanted: RunWanted): Promise<Outcome> {
  const { seed, rate = 400, folder, log, signal } = wanted
  const wrongs = collectWrongs(log)
  const releases: (() => Promise<unknown>)[] = []
  try {
    const system = await startSystem({ folder, log, ...(signal && { signal }) })
    releases.push(system.stop)
    const load = openLoad(seed)
    const feeding = await openFeeding(system, load, rate)
    releases.push(feeding.close)
    const tokenOf = await makeKeys(system, load, feeding)
    const { book, journal } = feeding
    const generations = openGenerations(load, book)
    const etags = openEtags(wrongs)
    const claims = openClaims({ book, journal, wrongs })
    const checking: Checking = {
      system,
      feeding,
      wrongs,
      random: randomFrom(seed, 'questions'),
      tokenOf,
      etags,
    }
    const freshAfter = (sinceMs: number, eventIds = generations.current, withinMs = recoverWithinMs) =>
      untilFresh(checking, { eventIds, sinceMs, withinMs })
    const tools: FaultTools = {
      ...checking,
      eventIds: generations.current,
      isFresh: async ({ sinceMs, withinMs, eventIds = generations.current() }) =>
        (await freshAfter(sinceMs, () => eventIds, withinMs)) !== undefined,
    }

    feeding.resume()
    if ((await freshAfter(Date.now())) === undefined)
      throw new Error('the answers did not become fresh before the first fault')
    // Those that were fresh once: a new event is unknown until its record is counted.
    let polled = generations.current()
    const asked = randomFrom(seed, 'polling')
    const polling = startPolling({
      queries: () => system.queries,
      targets: () =>
        polled.map(eventId => ({ eventId, token: tokenOf(eventId), grows: generations.grows(eventId) })),
      revisionOf: eventId => revisionIn(system.db, eventId),
      orderOf(eventId, asOfMs) {
        const orders = journal.ordersBefore(eventId, asOfMs, 50)
        return orders.length === 0 ? undefined : asked.of(orders)
      },
      random: asked,
      wrongs,
      etags,
      claims,
    })
    releases.push(polling.stop)

    /** The quiet before, the fault, and all that must hold after it. */
    const round = async (fault: Fault, index: number): Promise<Round> => {
      const startedMs = Date.now()
      const wrongBefore = wrongs.list.length
      const random = randomFrom(seed, `fault ${index} ${wanted.piece?.number ?? 1}`)
      await fault.prepare?.(system)
      feeding.resume()
      await untilSent(feeding, feeding.sent() + random.whole(rate / 10, rate))
      const sentBefore = feeding.sent()
      const { mayGoBack } = fault
      polling.allow({ answers: fault.allows, mayGoBack })
      const beganMs = Date.now()
      await fault.run(system, random, tools)
      feeding.resume()
      polling.allow({ answers: 'everything', mayGoBack })
      const endedMs = Date.now()
      const recoveryMs = await freshAfter(endedMs)
      if (recoveryMs === undefined || recoveryMs > (fault.recoverWithinMs ?? recoverWithinMs))
        wrongs.add(
          'nothing needs a restart',
          `${fault.name}: not fresh in time (${recoveryMs ?? 'never'} ms)`,
        )
      polling.allow({ answers: 'everything' })
      const lastMs = await feeding.pause()
      // All that are compared: the events of the last set may lie in other shards than those of this one.
      if ((await freshAfter(lastMs + 1, generations.latest)) === undefined)
        throw new Error(`after "${fault.name}" the records are not counted; see the logs in ${folder}`)
      polled = generations.current()
      const compared = await checkAnswers(checking, generations.latest())
      await checkLists(checking, generations.latest(), fault.listsWithinMs ?? listsWithinMs)
      await checkDeadLetters(checking)
      await makeWhole(system, wrongs)
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

    const possible = await Promise.all(wanted.kinds.map(({ isPossible = () => true }) => isPossible(system)))
    const kinds = wanted.kinds.filter((_, index) => possible[index])
    const deck = deckOf({ ...wanted, kinds })
    const rounds: Round[] = []
    for (const [index, fault] of deck.entries()) {
      signal?.throwIfAborted()
      log(`${index + 1}/${deck.length} ${fault.name}`)
      const done = await round(fault, index)
      rounds.push(done)
      log(lineOf(done))
      if ((index + 1) % faultsAGeneration === 0 && index + 1 < deck.length) generations.next()
    }
    await polling.stop()
    await checkAnswers(checking, generations.all())
    const badRecords = await checkDeadLetterOffsets(checking)
    const counts = { ...polling.seen(), ...claims.seen(), etags: etags.count() }
    return { seed, rounds, wrongs: wrongs.list, records: feeding.sent(), badRecords, ...counts }
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
