/** The part of kafkajs's ConsumerGroup that the patch uses. */
type OutOfRange = Error & { topic: string; partition: number; wantedOffset?: number }
type ConsumerGroup = {
  assigners: { outOfLog?(of: { topic: string; partition: number; wanted: number }): boolean }[]
  offsetManager: { nextOffset(topic: string, partition: number): { toString(): string } }
}

/**
 * Reports an offset that the log does not hold to the session, which holds that partition alone; if the session does
 * not handle it, the error ends the consumer. kafkajs 2.2.4 silently starts again at the topic's first record instead.
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
