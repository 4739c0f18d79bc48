import type { KafkaConnection } from '@tally/kafka'
import type { Postgres, RedisClient, RedisKeys } from '@tally/read-models'
import type { Logger, RateLimits } from '@tally/runtime'
import type { LiveHub } from './live/hub.ts'
import type { AdminMetrics } from './metrics.ts'
import type { Oidc } from './signIn/oidc.ts'

/** What the pages are made of. Only `db` must answer: without Redis or Kafka a page says what it cannot tell. */
export type AdminParts = {
  db: Postgres
  redis: RedisClient
  keys: RedisKeys
  kafka: KafkaConnection
  live: LiveHub
  oidc: Oidc | undefined
  logger: Logger
  metrics: AdminMetrics
  topicPrefix: string
  rateLimits: RateLimits
  /** Where the API is, for the `curl` lines. */
  apiUrl: string
  /** The area's own address, where it is told; over TLS its cookies say so. */
  publicUrl: string | undefined
  trustedProxies: string[]
}
