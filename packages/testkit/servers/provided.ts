import type {} from 'vitest'

export interface ServerAddresses {
  kafkaBrokers: string
  /** The administration URL: each test creates a database of its own on that server. */
  databaseUrl: string
  /** What the setting REDIS_URL takes: one Redis, the nodes of a cluster, or sentinels. */
  redisUrl: string
}

/** The servers of this run, as `inject('servers')` gives them to a test. */
export interface TestServers extends ServerAddresses {
  /** A database with the schema on the Postgres server, to be copied. */
  migratedDatabase: string
}

declare module 'vitest' {
  export interface ProvidedContext {
    servers: TestServers
  }
}
