export * from './fromPostgres.ts'
export * from './fromRedis.ts'
