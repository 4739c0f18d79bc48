import { setTimeout as sleep } from 'node:timers/promises'
import { allAreas } from '@tally/figures'
import { type Beat, type Composition, type DayRef, type DayShown, livePage } from './day.ts'
import { createRedisDays } from './fromRedis.ts'
import { createDayReader, createStatusReader, type DayReader, type LiveDeps } from './reader.ts'
import { serverSentEvent } from './serverSentEvent.ts'

/**
 * A screen that shows a day: it gets the bytes of server-sent events, `day` (its composition) and `beat` (Beat) when
 * the figures change, and `beat` alone at least once a second.
 */
type Watcher = {
  onDay(events: Buffer): void
  onBeat(event: Buffer): void
}

export type LiveHub = {
  /** Adds a watcher of a day, which gets the figures first; returns the function that removes it. */
  watch(ref: DayRef, watcher: Watcher, composition?: Composition): () => void
  /** Reads a day once; undefined if its event is gone, or if neither Redis nor Postgres answers. */
  read(ref: DayRef): Promise<{ day: DayShown; beat: Beat } | undefined>
  /** Ends all watches; resolves when nothing is running. */
  close(): Promise<void>
}

/** A sale must be on the screen within a second; this is the longest part of that. */
const lookEveryMs = 200
const beatEveryMs = 1_000

type Watched = {
  watchers: Set<Watcher>
  /** What was last sent about the figures: written once, however many screens get it. */
  day: Buffer | undefined
  beat: Beat | undefined
  done: Promise<void>
}

function notify(watched: Watched, beat: Beat, shown: string | undefined): void {
  if (shown === undefined) {
    const event = Buffer.from(beatEvent(beat))
    for (const watcher of watched.watchers) watcher.onBeat(event)
  } else {
    watched.day = Buffer.from(serverSentEvent('day', shown) + beatEvent(beat))
    for (const watcher of watched.watchers) watcher.onDay(watched.day)
  }
}
const beatEvent = (beat: Beat) => serverSentEvent('beat', JSON.stringify(beat))

/** Reads each watched day once per process and composition, however many screens show it. */
export function openLiveHub(deps: LiveDeps): LiveHub {
  const days = new Map<string, Watched>()
  const closing = new AbortController()
  const reads = { fromRedis: createRedisDays(deps, deps.topics), statusesOf: createStatusReader(deps.db) }

  let nextLook: Promise<void> | undefined
  /** The same for all days, so that their reads share round trips. */
  const untilNextLook = (): Promise<void> => {
    nextLook ??= sleep(lookEveryMs, undefined, { signal: closing.signal })
      .catch(() => undefined)
      .finally(() => {
        nextLook = undefined
      })
    return nextLook
  }

  async function follow(key: string, watched: Watched, look: DayReader, ref: DayRef): Promise<void> {
    let beatAtMs = 0
    while (watched.watchers.size > 0 && !closing.signal.aborted) {
      try {
        const { beat, shown } = await look()
        watched.beat = beat
        if (shown === undefined && performance.now() < beatAtMs) continue
        beatAtMs = performance.now() + beatEveryMs
        notify(watched, beat, shown)
      } catch (error) {
        // Without a beat the screen reports that the connection is lost, until there is one again.
        deps.logger.debug({ err: error, ...ref }, 'a live screen cannot be updated; trying again')
      } finally {
        await untilNextLook()
      }
    }
    days.delete(key)
  }

  function begin(key: string, ref: DayRef, composition: Composition): Watched {
    const watched: Watched = {
      watchers: new Set(),
      day: undefined,
      beat: undefined,
      done: Promise.resolve(),
    }
    days.set(key, watched)
    // After the first watcher is there.
    watched.done = Promise.resolve().then(() =>
      follow(key, watched, createDayReader(deps, reads, ref, composition), ref),
    )
    return watched
  }

  return {
    watch(ref, watcher, composition = livePage) {
      const key = `${ref.eventId}:${ref.dayId}:${ref.areaId ?? allAreas}:${composition.name}`
      // A day whose last watcher has left is followed until the next look: whoever comes meanwhile takes it over.
      const watched = days.get(key) ?? begin(key, ref, composition)
      watched.watchers.add(watcher)
      if (watched.day !== undefined) watcher.onDay(watched.day)
      // With the time now: the beat is old if the day cannot be read any more.
      if (watched.beat !== undefined)
        watcher.onBeat(Buffer.from(beatEvent({ ...watched.beat, nowMs: Date.now() })))
      return () => void watched.watchers.delete(watcher)
    },
    async read(ref) {
      try {
        const { beat, shown } = await createDayReader(deps, reads, ref)()
        return shown === undefined ? undefined : { beat, day: JSON.parse(shown) }
      } catch (error) {
        deps.logger.debug({ err: error, ...ref }, 'a live page is sent without figures')
        return undefined
      }
    },
    async close() {
      closing.abort()
      await Promise.all([...days.values()].map(({ done }) => done))
    },
  }
}
