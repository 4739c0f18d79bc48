export { withRedis } from './deps.ts'
export type { Checked } from './doctor/check.ts'
export { examine } from './doctor/doctor.ts'
export { rebuildFromKafka } from './fromKafka/rebuildFromKafka.ts'
export { listOffsets } from './offsets/list.ts'
export { move, planAccept, planSkip } from './offsets/move.ts'
export { createProgress } from './progress.ts'
export { rebuild } from './rebuild/rebuild.ts'
export type { RebuildTable } from './rebuild/table.ts'
export {
  type ChosenEvents,
  chooseByAge,
  chooseByIds,
  readTimeBefore,
} from './removal/choose.ts'
export { removeEvents } from './removal/removeEvents.ts'
export { verify } from './verify/verify.ts'
