import type {} from 'vitest'

/** The servers of this run, as `inject('servers')` gives them to a test. */
export interface TestServers {
  kafkaBrokers: string
  /** The administration URL: a test makes a database of its own beside the one it names. */
  databaseUrl: string
  /** One Redis, or the comma-separated nodes of a cluster: what the setting REDIS_URL takes. */
  redisUrl: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    servers: TestServers
  }
}
