export * from './database.ts'
export * from './migrate.ts'
export { lackedTables } from './roles.ts'
