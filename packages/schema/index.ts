export * from './database.ts'
export * from './migrate.ts'
export { forbiddenTables } from './roles.ts'
