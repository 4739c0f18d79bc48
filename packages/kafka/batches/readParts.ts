import type { AbortedTransaction } from '../log/fetch.ts'
import type { KafkaRecord, RecordBatch } from '../types.ts'
import { type BatchHeader, readHeader } from './batchFormat.ts'
import { type Entry, type FetchedBatch, isIntact, undecodable } from './fetchedBatch.ts'
import { recordsOf } from './records.ts'

/** Whether a reader sees nothing of a batch, which ends before `next`; to be asked about each in the log's order. */
type IsHidden = (header: BatchHeader, next: number) => boolean

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
  const isHidden = hidesAborted(fetched.abortedTransactions)
  for (const [index, entry] of fetched.entries.entries()) {
    try {
      const records = await visibleRecords(entry, isHidden, turn)
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
  if (fetched.damage !== undefined) throw fetched.damage
}

/** The records that a reader sees. Throws if they cannot be decoded. */
async function visibleRecords(entry: Entry, isHidden: IsHidden, turn: Promise<void>) {
  if (!isIntact(entry)) throw new Error('its checksum is wrong')
  const header = readHeader(entry)
  return isHidden(header, entry.next) ? [] : recordsOf(entry, header, turn)
}

/** Each fetch that is read ahead holds one part; as many are read ahead as are worked on at once. */
const maxAhead = 4
let ahead = 0
/** Made once: an error with its stack for every batch takes 1 % of a projector's time. */
const dropped = new Error('the fetch was dropped')

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
      turn.resolve()
      try {
        for (let read = await (first ?? parts.next()); !read.done; read = await parts.next()) yield read.value
      } finally {
        await parts.return()
      }
    },
    drop() {
      catchUp()
      turn.reject(dropped)
      parts.return().catch(() => undefined)
    },
  }
}

/** A part is passed on at this size: with one in work and one read ahead per partition, memory stays small. */
const partBytes = 8 * 1024 * 1024
/** Memory that a record takes in addition to its key and value. */
const recordBytes = 100

/** The records of a fetch that were read and not passed on yet. */
class RecordsPart {
  readonly #of: FetchedBatch
  #from: number
  #next: number
  #records: KafkaRecord[] = []
  #bytes = 0

  constructor(of: FetchedBatch) {
    this.#of = of
    this.#from = of.from
    this.#next = of.from
  }

  /** The read position: everything before it was passed on or is in this part. */
  get next(): number {
    return this.#next
  }

  get isEmpty(): boolean {
    return this.#next === this.#from
  }

  /** Adds a record unless it lies before the requested offset: a fetch begins with the batch that holds that offset. */
  add(record: KafkaRecord): void {
    if (record.offset < this.#next) return
    this.#records.push(record)
    this.#next = record.offset + 1
    this.#bytes += recordBytes + (record.key?.length ?? 0) + (record.value?.length ?? 0)
  }

  get isFull(): boolean {
    return this.#bytes >= partBytes
  }

  /** Skips offsets that hold nothing for a reader. */
  pass(next: number): void {
    this.#next = next
  }

  /** The records so far as a batch; the next part begins behind it. */
  take(): RecordBatch {
    const { topic, partition, topicId, lastStableOffset } = this.#of
    const batch = {
      topic,
      partition,
      ...(topicId !== undefined && { topicId }),
      from: this.#from,
      next: this.#next,
      lastStableOffset,
      records: this.#records,
    }
    this.#from = this.#next
    this.#records = []
    this.#bytes = 0
    return batch
  }
}

/**
 * Hides control batches and those of aborted transactions. kafkajs's own filter enters at most one aborted transaction
 * per record, in the order in which the broker names them: a read that begins inside two of them returns a record of
 * the second.
 */
function hidesAborted(named: AbortedTransaction[]): IsHidden {
  const upcoming = named.toSorted((a, b) => Number(a.firstOffset) - Number(b.firstOffset))
  const aborting = new Set<bigint>()
  return ({ isControl, producerId }, next) => {
    while (upcoming[0] && Number(upcoming[0].firstOffset) < next)
      aborting.add(BigInt((upcoming.shift() as AbortedTransaction).producerId))
    // The next control batch of its producer ends a transaction: the broker names those that end with an abort.
    if (isControl) aborting.delete(producerId)
    return isControl || aborting.has(producerId)
  }
}
