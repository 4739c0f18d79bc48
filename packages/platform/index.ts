export { beginningOf, longestLine, takeOver, takeOverFrom } from './http/inTurn.ts'
export * from './http/server.ts'
export { leastReserved, type Unread } from './http/unread.ts'
export * from './lifecycle/errors.ts'
export * from './lifecycle/lifecycle.ts'
export { type Meanwhile, type Outages, type PartName, watchParts } from './lifecycle/outages.ts'
export * from './lifecycle/serviceOps.ts'
export * from './log/logger.ts'
export * from './log/visible.ts'
export * from './metrics.ts'
export { bigints, bigintsAt, booleans, ints, jsons, texts, uuids } from './postgres/binaryArrays.ts'
export * from './postgres/database.ts'
export { openPool, type PoolOptions, pingPostgres } from './postgres/pool.ts'
export {
  openRedis,
  pingRedis,
  type RedisClient,
  type RedisOptions,
  type Script,
  type ScriptCalls,
  type ScriptSet,
  script,
  whenReady,
} from './redis/client.ts'
export * from './settings/databaseUrl.ts'
export * from './settings/redisUrl.ts'
export * from './settings/settings.ts'
export { type OidcSettings, SettingsError } from './settings/settingValues.ts'
export * from './timing.ts'
