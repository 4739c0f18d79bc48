/** What of kafkajs's Batch and ConsumerGroup the patches touch. */
type Batch = { rawMessages: unknown[] }
type OutOfRange = Error & { topic: string; partition: number; wantedOffset?: number }
type ConsumerGroup = {
  offsetManager: { nextOffset(topic: string, partition: number): { toString(): string } }
}

/**
 * Lets a read that brought only control records or records of aborted transactions reach `eachBatch` as an empty batch.
 * kafkajs 2.2.4 steps over it by itself; then the next batch begins behind the offset that is stored, which is a gap
 * to the one who keeps the offsets.
 */
export function patchBatch(prototype: object): void {
  Object.assign(prototype, {
    isEmptyDueToFiltering: () => false,
    isEmpty(this: Batch) {
      return this.rawMessages.length === 0
    },
  })
}

/**
 * Makes an offset that the log does not hold an error that ends the consumer. kafkajs 2.2.4 starts again at the topic's
 * first record instead, without a word to the one who keeps the offsets.
 */
export function patchOffsetOutOfRange(
  prototype: object,
  KafkaJSNonRetriableError: new (error: Error, options: { cause: Error }) => Error,
): void {
  Object.assign(prototype, {
    async recoverFromOffsetOutOfRange(this: ConsumerGroup, error: OutOfRange) {
      error.wantedOffset = Number(this.offsetManager.nextOffset(error.topic, error.partition).toString())
      throw new KafkaJSNonRetriableError(error, { cause: error })
    },
  })
}
