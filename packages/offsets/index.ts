export * from './logs.ts'
export * from './offsets.ts'
export type { OffsetTable, PartitionLogTable, StallState, WatermarkTable } from './table.ts'
