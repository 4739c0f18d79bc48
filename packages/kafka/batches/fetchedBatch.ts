import type { Answered } from '../log/fetch.ts'
import type { AbortedTransaction } from './aborted.ts'
import { type Entry, entriesOf, type Fetched } from './entries.ts'

/**
 * One partition of a fetch. Its entries are still compressed: readParts.ts unpacks them, in bounded memory.
 *
 * A fetch with nothing but control records or records of aborted transactions is one, too: without it, the next batch
 * would begin after the stored offset, and the caller would see a gap.
 */
export class FetchedBatch implements Fetched {
  readonly topic: string
  readonly partition: number
  readonly topicId: string | undefined
  readonly from: number
  readonly highWatermark: number
  readonly bytes: Buffer
  readonly abortedTransactions: AbortedTransaction[]
  readonly entries: Entry[] = []
  /** The error that ended the entries early, if one did. */
  readonly damage: unknown

  /** `from`: the offset that was asked for. */
  constructor(answered: Omit<Answered, 'errorCode'>, from: number) {
    this.topic = answered.topic
    this.partition = answered.partition
    this.topicId = answered.topicId
    this.from = from
    this.highWatermark = answered.highWatermark
    this.abortedTransactions = answered.abortedTransactions
    this.bytes = answered.messages
    try {
      for (const entry of entriesOf(this)) this.entries.push(entry)
    } catch (error) {
      this.damage = error
    }
  }

  get isEmpty(): boolean {
    return this.entries.length === 0 && this.damage === undefined
  }

  /** The offset to fetch next. */
  get next(): number {
    return this.entries.at(-1)?.next ?? this.from
  }
}
