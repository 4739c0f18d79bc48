import { setTimeout as sleep } from 'node:timers/promises'
import type { Beat, DayRef, DayShown } from './day.ts'
import { type LiveDeps, openDayReader } from './reader.ts'

/** A screen that shows a day: it gets the figures when they change, and a beat at least once a second. */
type Watcher = {
  onShown(shown: DayShown): void
  onBeat(beat: Beat): void
}

export type LiveHub = {
  /** Adds a watcher of a day, which gets the figures first; returns the function that removes it. */
  watch(ref: DayRef, watcher: Watcher): () => void
  /** Ends all watches; resolves when nothing is running. */
  close(): Promise<void>
}

/** A sale must be on the screen within a second; this is the longest part of that. */
const lookEveryMs = 200
const beatEveryMs = 1_000

type Watched = {
  watchers: Set<Watcher>
  shown: DayShown | undefined
  beat: Beat | undefined
  done: Promise<void>
}

/** Reads each watched day once per process, however many screens show it. */
export function openLiveHub(deps: LiveDeps): LiveHub {
  const days = new Map<string, Watched>()
  const closing = new AbortController()

  async function follow(key: string, ref: DayRef, watched: Watched): Promise<void> {
    const look = openDayReader(deps, ref)
    let beatAtMs = 0
    while (watched.watchers.size > 0 && !closing.signal.aborted) {
      try {
        const { beat, shown } = await look()
        watched.beat = beat
        if (shown !== undefined) {
          watched.shown = shown
          for (const watcher of watched.watchers) watcher.onShown(shown)
        }
        if (shown !== undefined || performance.now() >= beatAtMs) {
          beatAtMs = performance.now() + beatEveryMs
          for (const watcher of watched.watchers) watcher.onBeat(beat)
        }
      } catch (error) {
        // Without a beat the screen reports that the connection is lost, until there is one again.
        deps.logger.debug({ err: error, ...ref }, 'a live screen cannot be updated; trying again')
      }
      await sleep(lookEveryMs, undefined, { signal: closing.signal }).catch(() => undefined)
    }
    if (days.get(key) === watched) days.delete(key)
  }

  return {
    watch(ref, watcher) {
      const key = `${ref.eventId}:${ref.dayId}`
      let watched = days.get(key)
      if (watched === undefined || watched.watchers.size === 0) {
        const begun: Watched = {
          watchers: new Set(),
          shown: undefined,
          beat: undefined,
          done: Promise.resolve(),
        }
        days.set(key, begun)
        begun.watchers.add(watcher)
        begun.done = follow(key, ref, begun)
        watched = begun
      } else {
        watched.watchers.add(watcher)
        if (watched.shown !== undefined) watcher.onShown(watched.shown)
        if (watched.beat !== undefined) watcher.onBeat(watched.beat)
      }
      const { watchers } = watched
      return () => void watchers.delete(watcher)
    },
    async close() {
      closing.abort()
      await Promise.all([...days.values()].map(({ done }) => done))
    },
  }
}
