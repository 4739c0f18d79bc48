export * from './database.ts'
export * from './migrate.ts'
export { grantRoles, lackedTables } from './roles.ts'
