import { inside, type KafkaConnection } from '../client/connection.ts'
import { askTopics } from '../topics/topicMetadata.ts'
import { type Right, rightsIn, topicForbidden } from './rights.ts'

/** A topic as this client sees it; `partitions` is 0 if it is missing, or may not be described. */
export type TopicState = { partitions: number; rights: ReadonlySet<Right> }

/** Each of these topics, and what this client may do with it. Throws kafkajs's error if Kafka does not answer. */
export async function topicStates(
  connection: KafkaConnection,
  topics: string[],
): Promise<Map<string, TopicState>> {
  const answered = await inside(connection).cluster.use([], async cluster =>
    askTopics(await cluster.findControllerBroker(), topics, { withRights: true }),
  )
  return new Map(
    answered.map(({ topic, errorCode, partitions, authorizedOperations }) => [
      topic,
      { partitions: partitions.length, rights: rightsOf(errorCode, authorizedOperations) },
    ]),
  )
}

/** A missing topic has no rights of its own to answer with, so it counts as allowed. */
function rightsOf(errorCode: number, authorizedOperations: number): Set<Right> {
  if (errorCode === topicForbidden) return new Set()
  return rightsIn(errorCode === 0 ? authorizedOperations : -1)
}
