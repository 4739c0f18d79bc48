import type { AccessKeys, AccessRedis, PasswordCost } from '@tally/access'
import type { KafkaConnection } from '@tally/kafka'
import type { Logger, Postgres, RateLimits } from '@tally/platform'
import type { ReadModelRedis, RedisKeys } from '@tally/publication'
import type { LiveHub } from './live/hub.ts'
import type { AdminMetrics } from './metrics.ts'
import type { Sample } from './operations/lastHour.ts'
import type { Sealer } from './secondFactor/codes.ts'
import type { Oidc } from './signIn/oidc.ts'
import type { PasswordQueue } from './signIn/passwordQueue.ts'
import type { Recall } from './signIn/recall.ts'

/** What the pages need. But for operations only `db` must answer: without Redis or Kafka a page says what it lacks. */
export type AdminDeps = {
  db: Postgres
  redis: ReadModelRedis & AccessRedis
  keys: RedisKeys & AccessKeys
  kafka: KafkaConnection
  live: LiveHub
  /** What the operations page draws, the oldest first. */
  lastHour: () => readonly Sample[]
  oidc: Oidc | undefined
  recall: Recall
  /** Whether one can sign in with a password. */
  allowsPasswords: boolean
  /** What the hash of a new password costs; of a known one, its own parameters. */
  passwordCost: PasswordCost
  queuePasswordHash: PasswordQueue
  /** Whether a sign-in with a password needs a second factor. */
  requiresSecondFactor: boolean
  /** Encrypts the secrets of second factors; without one, none can be set up. */
  sealer: Sealer | undefined
  logger: Logger
  metrics: AdminMetrics
  topicPrefix: string
  rateLimits: RateLimits
  /** The URL of the API, for the `curl` lines. */
  apiUrl: string
  /** Whom people ask for help: an e-mail address, or the address of a page. */
  contact: string | undefined
  /** The area's own URL, if it is set; with https its cookies are for TLS only. */
  publicUrl: string | undefined
  trustedProxies: string[]
  /** How often a live screen checks that its session or link is valid. */
  screenCheckMs: number
  /** Connections beyond this number are closed at once. */
  maxConnections: number
  /** After this time without a request, a kept connection is closed. */
  idleTimeoutMs: number
}
