/** The settings under which Tally's processes run in tests, in the fault run and in the bench. */
export type ProcessSettings = {
  kafkaBrokers: string
  databaseUrl: string
  redisUrl: string
  /** The consumer group and the prefix in Redis. */
  name: string
  /** The prefix of the topics; by default, `name`. */
  topicPrefix?: string
}

/** So high that no test or load reaches them; each request is counted all the same. */
const unlimited = 'Trial=999999999,ActiveDayPass=999999999,Inactive=999999999'

/** Names everything that this machine's environment could change; each port is a free one of the loopback interface. */
export const environmentOf = (settings: ProcessSettings) => ({
  KAFKA_BROKERS: settings.kafkaBrokers,
  KAFKA_GROUP_ID: settings.name,
  TOPIC_PREFIX: settings.topicPrefix ?? settings.name,
  DATABASE_URL: settings.databaseUrl,
  REDIS_URL: settings.redisUrl,
  REDIS_PREFIX: settings.name,
  QUERY_HOST: '127.0.0.1',
  QUERY_PORT: '0',
  QUERY_DRAIN_MS: '0',
  ADMIN_PORT: '0',
  OPS_HOST: '127.0.0.1',
  OPS_PORT: '0',
  RATE_LIMITS: unlimited,
  EDITION: 'cloud',
  LOG_LEVEL: 'info',
})
