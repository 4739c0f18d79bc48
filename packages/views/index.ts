export * from './fromPostgres.ts'
export * from './fromRedis.ts'
export * from './looks.ts'
export * from './read.ts'
