export * from './logs.ts'
export * from './offsets.ts'
export type { StallState } from './table.ts'
