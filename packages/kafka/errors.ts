/** A topic that must be there is not. */
export class TopicMissingError extends Error {
  override readonly name = 'TopicMissingError'
  constructor(topics: string[]) {
    const [is, it] = topics.length === 1 ? ['topic', 'is'] : ['topics', 'are']
    super(`the ${is} ${topics.join(', ')} ${it} not there: run \`tally topics create\``)
  }
}

/** Topics whose partition counts do not fit (messages.md, section 1). */
export class PartitionCountError extends Error {
  override readonly name = 'PartitionCountError'
}

/** The offset to read from lies outside what the topic still holds. */
export class OffsetOutOfLogError extends Error {
  override readonly name = 'OffsetOutOfLogError'
  constructor(topic: string, partition: number, wanted: number, log: { start: number; end: number }) {
    const why =
      wanted > log.end
        ? 'was the topic made anew, or does KAFKA_BROKERS name another cluster?'
        : 'records that were not read yet have been deleted (retention?).'
    super(
      `${topic}-${partition} is to be read from offset ${wanted}, but holds ${log.start} to ${log.end}: ${why} ` +
        'If that is meant to be, run `tally rebuild --from-kafka`.',
    )
  }
}

/** Records could not be sent; none, some or all of them may be in Kafka. */
export class KafkaSendError extends Error {
  override readonly name = 'KafkaSendError'
  constructor(topics: string[], cause: Error) {
    super(`could not send to ${topics.join(', ')}: ${cause.message}`, { cause })
  }
}
