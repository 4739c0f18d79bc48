export * from './differences.ts'
export { withRedis, type RepairParts } from './parts.ts'
export { openProgress, type Progress } from './progress.ts'
export { rebuild, type RebuildOptions, type Rebuilt } from './rebuild/rebuild.ts'
export { type Verified, type VerifyOptions, verify } from './verify/verify.ts'
export {
  type FromKafkaOptions,
  type RebuiltFromKafka,
  rebuildFromKafka,
} from './fromKafka/rebuildFromKafka.ts'
export { findShadow } from './fromKafka/shadow.ts'
export { type ListedOffset, listOffsets, type OffsetsParts } from './offsets/list.ts'
export { type Move, move, OffsetsUsageError, planAccept, planSkip } from './offsets/move.ts'
