/** Instead of the id of a leader, if a partition has none now. */
export const noLeader = '-1'
/** Kafka's error code for that. */
export const leaderNotAvailable = 5

type Metadata = { topicMetadata: { topicErrorCode: number; partitionMetadata: unknown[] }[] }
type Response = { parse(answer: Metadata): Promise<Metadata> }

/**
 * kafkajs 2.2.4 throws away the metadata of all topics if one of their partitions has no leader; without its error code
 * that partition has the leader -1. An error of a whole topic still throws.
 */
export const keepLeaderless = (response: Response): Response => ({
  ...response,
  async parse(answer) {
    const topics = answer.topicMetadata.map(topic => ({ ...topic, partitionMetadata: [] }))
    await response.parse({ topicMetadata: topics })
    return answer
  },
})
