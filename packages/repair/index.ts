export { type RepairDeps, withRedis } from './deps.ts'
export * from './differences.ts'
export type { Checked } from './doctor/check.ts'
export { examine } from './doctor/doctor.ts'
export {
  type FromKafkaOptions,
  type RebuiltFromKafka,
  rebuildFromKafka,
} from './fromKafka/rebuildFromKafka.ts'
export { type ListedOffset, listOffsets, type OffsetsDeps } from './offsets/list.ts'
export { type Move, move, OffsetsUsageError, planAccept, planSkip } from './offsets/move.ts'
export { createProgress, type Progress } from './progress.ts'
export { type RebuildOptions, type Rebuilt, rebuild } from './rebuild/rebuild.ts'
export type { RebuildTable } from './rebuild/table.ts'
export {
  type ChosenEvents,
  chooseByAge,
  chooseByIds,
  readTimeBefore,
} from './removal/choose.ts'
export { removeEvents } from './removal/removeEvents.ts'
export { type Verified, type VerifyOptions, verify } from './verify/verify.ts'
