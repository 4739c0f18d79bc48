import { setTimeout as rest } from 'node:timers/promises'
import type { Beat, DayRef, DayShown } from './day.ts'
import { type LiveParts, openDayReader } from './reader.ts'

/** Who looks at a day: hears its figures when they change, and a beat at least once a second. */
export type Watcher = {
  onShown(shown: DayShown): void
  onBeat(beat: Beat): void
}

export type LiveHub = {
  /** Begins to tell a watcher of a day, its figures first; returns what ends it. */
  watch(ref: DayRef, watcher: Watcher): () => void
  /** Ends all; resolves when nothing is under way. */
  close(): Promise<void>
}

/** A sale is on the screen within a second: at most this, and the way to it. */
const lookEveryMs = 200
const beatEveryMs = 1_000

type Watched = {
  watchers: Set<Watcher>
  shown: DayShown | undefined
  beat: Beat | undefined
  done: Promise<void>
}

/** However many screens show a day, this process looks at it once. A day that nobody watches is not looked at. */
export function openLiveHub(parts: LiveParts): LiveHub {
  const days = new Map<string, Watched>()
  const closing = new AbortController()

  async function follow(key: string, ref: DayRef, watched: Watched): Promise<void> {
    const look = openDayReader(parts, ref)
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
        // No beat: the screen says by itself that it is cut off, and goes on when the parts are back.
        parts.logger.debug({ err: error, ...ref }, 'a live screen cannot be told anything; trying again')
      }
      await rest(lookEveryMs, undefined, { signal: closing.signal }).catch(() => undefined)
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
