/** What of kafkajs's ConsumerGroup the patch touches. */
type OutOfRange = Error & { topic: string; partition: number; wantedOffset?: number }
type ConsumerGroup = {
  assigners: { outOfLog?(of: { topic: string; partition: number; wanted: number }): boolean }[]
  offsetManager: { nextOffset(topic: string, partition: number): { toString(): string } }
}

/**
 * Tells the session of an offset that the log does not hold, so that it holds that partition alone; where the session
 * does not take care of it, it is an error that ends the consumer. kafkajs 2.2.4 starts again at the topic's
 * first record instead, without a word to the one who keeps the offsets.
 */
export function patchOffsetOutOfRange(
  prototype: object,
  KafkaJSNonRetriableError: new (error: Error, options: { cause: Error }) => Error,
): void {
  Object.assign(prototype, {
    async recoverFromOffsetOutOfRange(this: ConsumerGroup, error: OutOfRange) {
      const { topic, partition } = error
      const wanted = Number(this.offsetManager.nextOffset(topic, partition).toString())
      if (this.assigners.some(assigner => assigner.outOfLog?.({ topic, partition, wanted }))) return
      error.wantedOffset = wanted
      throw new KafkaJSNonRetriableError(error, { cause: error })
    },
  })
}
