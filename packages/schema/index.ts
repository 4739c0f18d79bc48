export * from './database.ts'
export * from './migrate.ts'
export { forbiddenTables, serviceNames } from './roles.ts'
