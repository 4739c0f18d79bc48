import type { Logger } from '@tally/platform'
import type { Admin, ISocketFactory, Kafka, logCreator } from 'kafkajs'
import { isAvoided } from '../patches/requestQueue.ts'
import type { ConnectOptions, KafkaSettings } from '../types.ts'
import { settled } from './backoff.ts'
import { connectSocket, kafkajs } from './kafkajs.ts'

/** A connection to Kafka, shared by all consumers and producers of a process. Close it last. */
export type KafkaConnection = {
  /** Closes the admin clients; consumers and producers are closed separately. */
  close(): Promise<void>
}

const closeTimeoutMs = 2_000

type Inside = {
  kafka: Kafka
  admin: Shared<Admin>
  cluster: SharedCluster
  logger: ConnectOptions['logger']
  /** As KAFKA_BROKERS names them. */
  brokers: string[]
}

const insides = new WeakMap<KafkaConnection, Inside>()

/**
 * Makes a connection from the settings KAFKA_BROKERS, KAFKA_SSL and KAFKA_SASL_*. Nothing is sent yet: a
 * broker that is down shows when it is first needed.
 */
export function connectKafka(settings: KafkaSettings, { clientId, logger }: ConnectOptions): KafkaConnection {
  const kafka = openClient(settings, clientId, logger)
  const admin = shared(() => kafka.admin({ retry: retryPolicy }))
  const cluster = sharedCluster(kafka)
  const close = async (): Promise<void> => {
    // A client that is still connecting cannot be stopped, and must not delay the end of the process.
    await settled(Promise.all([admin.close(), cluster.close()]), closeTimeoutMs)
  }
  const connection: KafkaConnection = { close }
  insides.set(connection, { kafka, admin, cluster, logger, brokers: settings.brokers })
  return connection
}

/** How many brokers the cluster has; rejects with kafkajs's error if none answers. Their version they do not tell. */
export async function countBrokers(connection: KafkaConnection): Promise<number> {
  const { brokers } = await inside(connection).admin.use(admin => admin.describeCluster())
  return brokers.length
}

/** What only this package sees of a connection, so that kafkajs stays hidden. */
export function inside(connection: KafkaConnection): Inside {
  const found = insides.get(connection)
  if (!found) throw new Error('a Kafka connection comes from connectKafka')
  return found
}

/** kafkajs's retries inside one call; the caller retries what outlasts them. */
export const retryPolicy = {
  initialRetryTime: 100,
  maxRetryTime: 1_000,
  retries: 5,
  factor: 0.2,
  multiplier: 2,
}

/** An answer takes longer than this only if the broker hangs; JoinGroup and Fetch have longer limits of their own. */
export const requestTimeoutMs = 15_000

export function openClient(settings: KafkaSettings, clientId: string, logger: Logger): Kafka {
  return new kafkajs.Kafka({
    clientId,
    brokers: async () => answeringFirst(settings.brokers.map(withoutColons)),
    socketFactory,
    ssl: settings.ssl,
    ...(settings.sasl && {
      sasl: settings.sasl as { mechanism: 'plain'; username: string; password: string },
    }),
    connectionTimeout: 3_000,
    requestTimeout: requestTimeoutMs,
    retry: retryPolicy,
    logLevel: logger.isLevelEnabled('trace') ? kafkajs.logLevel.DEBUG : kafkajs.logLevel.INFO,
    logCreator: logTo(logger),
  })
}

/** kafkajs takes what is before the first colon for the host: on its way, an IPv6 address has other signs. */
const withoutColons = (broker: string): string => broker.replace(/^\[.*\]/, host => host.replaceAll(':', '_'))
const socketFactory: ISocketFactory = ({ host, ...rest }) =>
  connectSocket({ host: host.startsWith('[') ? host.slice(1, -1).replaceAll('_', ':') : host, ...rest })

/** kafkajs tries the brokers of this list one after the other until one answers. */
const answeringFirst = (brokers: string[]): string[] => [
  ...brokers.filter(broker => !isAvoided(broker)),
  ...brokers.filter(isAvoided),
]

/**
 * Writes kafkajs's log to ours at lower levels: what it calls an error is mostly a rebalance, a leader that moved or
 * another attempt to connect, and heals. What does not heal is thrown, and logged where it is caught.
 */
function logTo(logger: Logger): logCreator {
  return () =>
    ({ namespace, level, log }) => {
      const { message, timestamp: _, logger: __, stack: ___, ...fields } = log
      logger[level === kafkajs.logLevel.DEBUG ? 'trace' : 'debug'](
        { ...fields, namespace },
        `kafkajs: ${message}`,
      )
    }
}

/** One client that is opened when first used, and replaced after an error. */
type Shared<Client> = {
  /** Runs `work`; after an error once more with a fresh client. */
  use<T>(work: (client: Client) => Promise<T>): Promise<T>
  close(): Promise<void>
}

function shared<Client extends { connect(): Promise<void>; disconnect(): Promise<void> }>(
  create: () => Client,
): Shared<Client> {
  let opening: Promise<Client> | undefined
  const open = async (): Promise<Client> => {
    const client = create()
    await client.connect()
    return client
  }
  const drop = async (): Promise<void> => {
    const old = opening
    opening = undefined
    await old?.then(client => client.disconnect()).catch(() => undefined)
  }
  const once = async <T>(work: (client: Client) => Promise<T>): Promise<T> => {
    opening ??= open()
    const mine = opening
    try {
      return await work(await mine)
    } catch (error) {
      if (opening === mine) await drop()
      throw error
    }
  }
  // kafkajs does not retry when a connection is lost or a leader has moved.
  return { use: work => once(work).catch(() => once(work)), close: drop }
}

/** The part of kafkajs 2.2.4's internal Cluster that this package uses, for requests that its API does not offer. */
export type Cluster = {
  isConnected(): boolean
  connect(): Promise<void>
  disconnect(): Promise<void>
  addTargetTopic(topic: string): Promise<void>
  addMultipleTargetTopics(topics: string[]): Promise<void>
  refreshMetadata(): Promise<void>
  findTopicPartitionMetadata(topic: string): { partitionId: number; leader: number }[]
  findLeaderForPartitions(topic: string, partitions: number[]): Record<string, number[]>
  findBroker(of: { nodeId: string }): Promise<Broker>
  findControllerBroker(): Promise<Broker>
  findGroupCoordinator(of: { groupId: string }): Promise<Broker>
  brokerPool: {
    brokers: Record<string, unknown>
    /** Asks brokers, one after the other, until one answers (patches/requestQueue.ts). */
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
function sharedCluster(kafka: Kafka) {
  const { use, close } = shared(() => openCluster(kafka))
  return {
    /** Runs `work` with the topics' metadata loaded; after an error once more with a fresh client. */
    use: <T>(topics: string[], work: (cluster: Cluster) => Promise<T>): Promise<T> =>
      use(async cluster => {
        await cluster.addMultipleTargetTopics(topics)
        return work(cluster)
      }),
    /** Ids of brokers that have not answered since they were last asked; kept by askLeaders. */
    silent: new Set<string>(),
    close,
  }
}
export type SharedCluster = ReturnType<typeof sharedCluster>
