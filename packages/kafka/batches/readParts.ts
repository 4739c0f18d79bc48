import { UndecodableBatchError } from '../errors.ts'
import type { RecordBatch } from '../types.ts'
import { abortedTransactions } from './aborted.ts'
import { readHeader } from './batchHeader.ts'
import { type Entry, isIntact, undecodable } from './entries.ts'
import type { FetchedBatch } from './fetchedBatch.ts'
import { RecordsPart } from './part.ts'
import { recordsOf } from './records.ts'

type Aborted = ReturnType<typeof abortedTransactions>

/**
 * The records of a fetch in parts of bounded size, without gaps between them. Records of aborted transactions and
 * control records are left out. Throws UndecodableBatchError at the first batch that cannot be decoded, after returning
 * the records before it. A batch that is too large to hold unpacked is not started before `turn` resolves.
 */
export async function* readParts(
  fetched: FetchedBatch,
  turn: Promise<void> = Promise.resolve(),
): AsyncGenerator<RecordBatch, void> {
  const part = new RecordsPart(fetched)
  const aborted = abortedTransactions(fetched.abortedTransactions)
  for (const [index, entry] of fetched.entries.entries()) {
    try {
      const records = await visibleRecords(entry, aborted, turn)
      if (Symbol.asyncIterator in records) {
        for await (const record of records) {
          part.add(record)
          if (part.isFull) yield part.take()
        }
      } else {
        for (const record of records) {
          part.add(record)
          if (part.isFull) yield part.take()
        }
      }
    } catch (error) {
      if (!part.isEmpty) yield part.take()
      const following = fetched.entries[index + 1]
      const to = following?.firstOffset ?? entry.next
      throw undecodable(fetched, { from: part.next, to }, (error as Error).message, error)
    }
    part.pass(entry.next)
  }
  if (!part.isEmpty) yield part.take()
  if (fetched.damage instanceof UndecodableBatchError) throw fetched.damage
}

/** The records that a reader sees. Throws if they cannot be decoded. */
async function visibleRecords(entry: Entry, aborted: Aborted, turn: Promise<void>) {
  if (!isIntact(entry)) throw new Error('its checksum is wrong')
  const header = readHeader(entry)
  if (aborted.has(header, entry.next)) return []
  const records = await recordsOf(entry, header, turn)
  if (!header.isControl) return records
  for await (const { key } of records) aborted.end(header, key)
  return []
}

/** Each fetch that is read ahead holds one part; as many are read ahead as are worked on at once. */
const maxAhead = 4
let ahead = 0

/**
 * Starts to read a fetch before its partition is free, so that it is decoded while the one before is processed. The
 * caller must call `parts` or `drop`; `drop` after `parts` is harmless.
 */
export function readAhead(fetched: FetchedBatch): {
  parts(): AsyncGenerator<RecordBatch, void>
  drop(): void
} {
  const turn = Promise.withResolvers<void>()
  turn.promise.catch(() => undefined)
  const parts = readParts(fetched, turn.promise)
  let isTaken = false
  let isAhead = ahead < maxAhead
  if (isAhead) ahead++
  const first = isAhead ? parts.next() : undefined
  first?.catch(() => undefined)
  const catchUp = (): void => {
    if (isAhead) ahead--
    isAhead = false
  }
  return {
    async *parts() {
      catchUp()
      isTaken = true
      turn.resolve()
      try {
        for (let read = await (first ?? parts.next()); !read.done; read = await parts.next()) yield read.value
      } finally {
        await parts.return()
      }
    },
    drop() {
      catchUp()
      // Made only if needed: an error with its stack for every batch takes 1 % of a projector's time.
      if (!isTaken) turn.reject(new Error('the fetch was dropped'))
      parts.return().catch(() => undefined)
    },
  }
}
