import type { Admin, Kafka } from 'kafkajs'
import type { ConnectOptions, KafkaSettings } from '../types.ts'
import { settled } from './backoff.ts'
import { openClient, type Shared, sharedAdmin } from './client.ts'
import { type SharedCluster, sharedCluster } from './cluster.ts'

/** A connection to Kafka, shared by all consumers and producers of a process. Close it last. */
export type KafkaConnection = {
  readonly clientId: string
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
  const admin = sharedAdmin(kafka)
  const cluster = sharedCluster(kafka)
  const close = async (): Promise<void> => {
    // A client that is still connecting cannot be stopped, and must not delay the end of the process.
    await settled(Promise.all([admin.close(), cluster.close()]), closeTimeoutMs)
  }
  const connection: KafkaConnection = { clientId, close }
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
