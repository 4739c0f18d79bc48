type Metadata = { topicMetadata: { topicErrorCode: number; partitionMetadata: unknown[] }[] }
type Response = { parse(answer: Metadata): Promise<Metadata> }

/**
 * kafkajs 2.2.4 throws away the metadata of all topics if one of their partitions has no leader; without its error code
 * that partition has the leader -1. What topics cannot be asked for still throws.
 */
export const keepLeaderless = (response: Response): Response => ({
  ...response,
  async parse(answer) {
    const topics = answer.topicMetadata.map(topic => ({ ...topic, partitionMetadata: [] }))
    await response.parse({ topicMetadata: topics })
    return answer
  },
})
