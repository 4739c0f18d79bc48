import type { Logger } from '@tally/platform'
import type { Admin, ISocketFactory, Kafka, logCreator } from 'kafkajs'
import { isAvoided } from '../patches/silence.ts'
import type { KafkaSettings } from '../types.ts'
import { connectSocket, kafkajs } from './kafkajs.ts'

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
export type Shared<Client> = {
  /** Runs `work`; after an error once more with a fresh client. */
  use<T>(work: (client: Client) => Promise<T>): Promise<T>
  close(): Promise<void>
}

export function shared<Client extends { connect(): Promise<void>; disconnect(): Promise<void> }>(
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

export const sharedAdmin = (kafka: Kafka): Shared<Admin> => shared(() => kafka.admin({ retry: retryPolicy }))
