import type { AbortedTransaction } from './aborted.ts'
import { type Entry, entriesOf, type Fetched } from './entries.ts'

/**
 * One partition of a fetch as kafkajs passes it on; its `messages` are the raw bytes that patches/fetchResponse.ts
 * kept.
 */
export type PartitionData = {
  partition: number
  /** With which it was fetched; none if it was fetched by name. */
  topicId?: string
  highWatermark: string
  abortedTransactions?: AbortedTransaction[] | null
  messages: Buffer
}

/**
 * One partition of a fetch. It replaces kafkajs 2.2.4's Batch and has the methods that kafkajs's own loop calls, but
 * its entries are still compressed (readParts.ts unpacks them, in bounded memory). kafkajs's Batch holds every record
 * of the fetch at once, and one that cannot be decoded fails all partitions and topics of the fetch.
 *
 * A fetch with nothing but control records or records of aborted transactions reaches `eachBatch` as well. kafkajs
 * would skip it silently; the next batch would then begin after the stored offset, and the caller would see a gap.
 */
export class FetchedBatch implements Fetched {
  readonly topic: string
  readonly partition: number
  readonly topicId: string | undefined
  readonly fetchedOffset: string
  readonly from: number
  readonly highWatermark: number
  readonly bytes: Buffer
  readonly abortedTransactions: AbortedTransaction[]
  readonly entries: Entry[] = []
  /** The error that ended the entries early, if one did. */
  readonly damage: unknown
  /** For kafkajs, which reads the last of them. */
  readonly messages: never[] = []

  constructor(topic: string, fetchedOffset: string, data: PartitionData) {
    this.topic = topic
    this.partition = data.partition
    this.topicId = data.topicId
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

  /** kafkajs fetches next at the offset after this one. */
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
