import type { KafkaRecord, RecordBatch } from '../types.ts'
import type { Fetched } from './entries.ts'

/** A part is passed on at this size: with one in work and one read ahead per partition, memory stays small. */
const partBytes = 8 * 1024 * 1024
/** Memory that a record takes in addition to its key and value. */
const recordBytes = 100

/** The records of a fetch that were read and not passed on yet. */
export class RecordsPart {
  readonly #of: Fetched
  #from: number
  #next: number
  #records: KafkaRecord[] = []
  #bytes = 0

  constructor(of: Fetched) {
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
    const { topic, partition, topicId, highWatermark } = this.#of
    const batch = {
      topic,
      partition,
      ...(topicId !== undefined && { topicId }),
      from: this.#from,
      next: this.#next,
      highWatermark,
      records: this.#records,
    }
    this.#from = this.#next
    this.#records = []
    this.#bytes = 0
    return batch
  }
}
