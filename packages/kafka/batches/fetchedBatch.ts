import type { AbortedTransaction } from './aborted.ts'
import { entriesOf, type Entry, type Fetched } from './entries.ts'

/** What kafkajs hands over of one partition of a fetch; its `messages` are the bytes that patches/fetchResponse.ts left. */
export type PartitionData = {
  partition: number
  highWatermark: string
  abortedTransactions?: AbortedTransaction[] | null
  messages: Buffer
}

/**
 * One partition of a fetch, in the place of kafkajs 2.2.4's Batch: entries that nobody has unpacked yet (readParts.ts does,
 * in bounded memory), and the methods that kafkajs's own loop calls. Its Batch holds every record of the fetch at once, and
 * one that cannot be decoded fails all partitions and topics of the fetch.
 *
 * A fetch that brought only control records or records of aborted transactions reaches `eachBatch` as well. kafkajs steps
 * over it by itself; then the next batch begins behind the offset that is stored, which is a gap to the one who keeps
 * the offsets.
 */
export class FetchedBatch implements Fetched {
  readonly topic: string
  readonly partition: number
  readonly fetchedOffset: string
  readonly from: number
  readonly highWatermark: number
  readonly bytes: Buffer
  readonly abortedTransactions: AbortedTransaction[]
  readonly entries: Entry[] = []
  /** Why the entries end before their bytes do. */
  readonly damage: unknown
  /** For kafkajs, which looks for the last of them. */
  readonly messages: never[] = []

  constructor(topic: string, fetchedOffset: string, data: PartitionData) {
    this.topic = topic
    this.partition = data.partition
    this.fetchedOffset = fetchedOffset
    this.from = Number(fetchedOffset)
    this.highWatermark = Number(data.highWatermark)
    this.abortedTransactions = data.abortedTransactions ?? []
    this.bytes = data.messages
    try {
      for (const entry of entriesOf(this)) this.entries.push(entry)
    } catch (error) {
      this.damage = error
    }
  }

  isEmpty(): boolean {
    return this.entries.length === 0 && this.damage === undefined
  }

  isEmptyDueToFiltering(): boolean {
    return false
  }

  firstOffset(): string {
    return this.fetchedOffset
  }

  /** Where kafkajs fetches next is behind this one. */
  lastOffset(): string {
    return String((this.entries.at(-1)?.next ?? this.from) - 1)
  }

  offsetLag(): string {
    return String(this.highWatermark - 1 - Number(this.lastOffset()))
  }

  offsetLagLow(): string {
    return String(this.highWatermark - 1 - this.from)
  }
}
