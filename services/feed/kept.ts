import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { jsonOf } from '@tally/contract'
import type { Position } from './record.ts'
import { type Run, simulationRevision } from './simulate/calendar.ts'

/** A run of the feed, and how far it was sent. */
export type KeptRun = { run: Run; from: Position }

const writeEveryMs = 1_000

/**
 * Reads the run that a file keeps; undefined if there is no file, or one of another revision of the simulation, which
 * sends other records. Throws if the file is of another kind, naming it.
 */
export function readKept(file: string): KeptRun | undefined {
  if (!existsSync(file)) return undefined
  // Files of before the field are of revision 1.
  const { revision = 1, seed, date, orders, evening, records } = Object(jsonOf(readFileSync(file, 'utf8')))
  if (typeof date === 'string' && isCount(seed) && isCount(orders) && isCount(evening) && isCount(records))
    return revision === simulationRevision
      ? { run: { seed, date, orders }, from: { evening, records } }
      : undefined
  throw new Error(`--resume: ${file} is not a file that the feed has written; delete it`)
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

/**
 * Keeps in a file how far a run was sent: at most once a second, and on `close`. After a kill the last second is sent
 * again, which changes nothing (docs/records.md, Which record wins).
 */
export function openKept(file: string, run: Run) {
  let last: Position | undefined
  let writtenAtMs = Number.NEGATIVE_INFINITY
  const write = (position: Position) => {
    // Flushed before it gets its name: after a power cut the file would have the name and no content.
    writeFileSync(`${file}.partly`, JSON.stringify({ revision: simulationRevision, ...run, ...position }), {
      flush: true,
    })
    renameSync(`${file}.partly`, file)
    writtenAtMs = performance.now()
  }
  return {
    keep(position: Position): void {
      last = position
      if (performance.now() - writtenAtMs >= writeEveryMs) write(position)
    },
    close(): void {
      if (last !== undefined) write(last)
    },
  }
}
