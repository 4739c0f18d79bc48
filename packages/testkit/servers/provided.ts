import type {} from 'vitest'

/** The servers of this run, as `inject('servers')` gives them to a test. */
export interface TestServers {
  kafkaBrokers: string
  /** The administration URL: each test creates a database of its own on that server. */
  databaseUrl: string
  /** What the setting REDIS_URL takes: one Redis, the nodes of a cluster, or sentinels. */
  redisUrl: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    servers: TestServers
  }
}
