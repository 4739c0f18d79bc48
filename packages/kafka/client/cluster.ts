import type { Kafka } from 'kafkajs'
import { shared } from './client.ts'

/** The part of kafkajs 2.2.4's internal Cluster that this package uses, for requests that its API does not offer. */
export type Cluster = {
  isConnected(): boolean
  connect(): Promise<void>
  disconnect(): Promise<void>
  addTargetTopic(topic: string): Promise<void>
  addMultipleTargetTopics(topics: string[]): Promise<void>
  refreshMetadata(): Promise<void>
  /** The same, unless it was read in the last 30 s. */
  refreshMetadataIfNecessary(): Promise<void>
  findLeaderForPartitions(topic: string, partitions: number[]): Record<string, number[]>
  findBroker(of: { nodeId: string }): Promise<Broker>
  findControllerBroker(): Promise<Broker>
  findGroupCoordinator(of: { groupId: string }): Promise<Broker>
  brokerPool: {
    metadataExpireAt: number | null
    brokers: Record<string, unknown>
    /** Asks brokers, one after the other, until one answers (patches/silence.ts). */
    withBroker<Answer>(ask: (of: { broker: Broker }) => Promise<Answer>): Promise<Answer | null>
  }
}

export type Broker = {
  versions: Record<number, { maxVersion: number }> | null
  joinGroup(request: object): Promise<JoinedGroup>
  syncGroup(request: object): Promise<{ memberAssignment: Buffer }>
  heartbeat(request: object): Promise<void>
  offsetCommit(request: object): Promise<void>
  leaveGroup(request: object): Promise<void>
  findGroupCoordinator(request: object): Promise<{ coordinator: { nodeId: string } }>
  listOffsets(request: object): Promise<ListOffsetsResponse>
  connectionPool: { send<Answer>(of: { request: object; response: object }): Promise<Answer> }
}
export type JoinedGroup = {
  memberId: string
  generationId: number
  leaderId: string
  /** Only the leader gets them. */
  members: { memberId: string; memberMetadata: Buffer }[]
}
type ListOffsetsResponse = {
  responses: { topic: string; partitions: { partition: number; offset: string }[] }[]
}

/** kafkajs's isolation level: the log up to the high watermark, including records of open transactions. */
export const readUncommitted = 0

export function openCluster(kafka: Kafka): Cluster {
  const name = Object.getOwnPropertySymbols(kafka).find(
    ({ description }) => description === 'private:Kafka:createCluster',
  )
  if (name === undefined)
    throw new Error('kafkajs has no createCluster: packages/kafka is written for kafkajs 2.2.4')
  const make = (kafka as unknown as Record<symbol, (options: object) => Cluster>)[name]
  return (make as (options: object) => Cluster)({ metadataMaxAge: 30_000, allowAutoTopicCreation: false })
}

/** One cluster client that is opened when first used, and replaced after an error. */
export type SharedCluster = {
  /** Runs `work` with the topics' metadata loaded; after an error once more with a fresh client. */
  use<T>(topics: string[], work: (cluster: Cluster) => Promise<T>): Promise<T>
  /** Ids of brokers that have not answered since they were last asked; kept by askLeaders. */
  silent: Set<string>
  close(): Promise<void>
}

export function sharedCluster(kafka: Kafka): SharedCluster {
  const { use, close } = shared(() => openCluster(kafka))
  return {
    use: (topics, work) =>
      use(async cluster => {
        await cluster.addMultipleTargetTopics(topics)
        return work(cluster)
      }),
    silent: new Set(),
    close,
  }
}
