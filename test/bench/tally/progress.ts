import { setTimeout as sleep } from 'node:timers/promises'
import { topicNames } from '@tally/kafka'
import { readOffsets } from '@tally/offsets'
import type { Postgres } from '@tally/platform'
import type { DataSet } from '../data/preload.ts'

/** So many records were applied at a moment (epoch milliseconds). */
export type Applied = { atMs: number; records: number }

const lookEveryMs = 100

/** Notes how far the projector is, ten times a second, from the offsets in Postgres; `stop` returns the notes. */
export function watchProgress(db: Postgres, { topicPrefix }: DataSet): { stop: () => Promise<Applied[]> } {
  const { organizations, events, orders, refunds } = topicNames(topicPrefix)
  const notes: Applied[] = []
  let isStopped = false
  const watching = (async () => {
    for (; !isStopped; await sleep(lookEveryMs)) {
      const stored = await readOffsets(db, [organizations, events, orders, refunds])
      const records = stored.reduce((sum, { nextOffset }) => sum + nextOffset, 0)
      notes.push({ atMs: Date.now(), records })
    }
  })()
  return {
    async stop() {
      isStopped = true
      await watching
      return notes
    },
  }
}

/** When so many records were applied, interpolated between two samples; throws if the samples do not reach it. */
export function momentOf(notes: Applied[], records: number): number {
  const after = notes.findIndex(note => note.records >= records)
  const [before, found] = [notes[after - 1], notes[after]]
  if (found === undefined) throw new Error(`the projector was never seen at ${records} records`)
  if (before === undefined) return found.atMs
  const share = (records - before.records) / (found.records - before.records)
  return before.atMs + share * (found.atMs - before.atMs)
}
