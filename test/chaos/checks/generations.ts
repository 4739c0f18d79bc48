import { setTimeout as sleep } from 'node:timers/promises'
import type { Load } from '../load/load.ts'
import type { Book } from './book.ts'

/** The events of a run, in sets that follow each other: counting all orders again after each fault must stay quick. */
export type Generations = {
  /** Of the current set, as far as their own records have been sent. */
  current: () => string[]
  /** Of the current set and the one before it. */
  latest: () => string[]
  all: () => string[]
  /** Whether this event only ever gets new paid orders. */
  grows: (eventId: string) => boolean
  next: () => void
  /** Waits until a few events of the current set have been sent. */
  begun: () => Promise<void>
}

/** One event that only grows, one of scripted orders, one simulated. */
const fewest = 3

export function openGenerations(load: Load, book: Book): Generations {
  const over: string[][] = []
  const growing = new Set([load.growing().eventId])
  const current = () => {
    const known = new Set(over.flat())
    return book.eventIds().filter(id => !known.has(id))
  }
  return {
    current,
    latest: () => [...(over.at(-1) ?? []), ...current()],
    all: book.eventIds,
    grows: eventId => growing.has(eventId),
    async begun() {
      while (current().length < fewest) await sleep(20)
    },
    next() {
      over.push(current())
      load.nextGeneration()
      growing.add(load.growing().eventId)
    },
  }
}
