export {
  added,
  addedForValue,
  type DeadLetter,
  deadLetterOf,
  isDeadLetterId,
  printDeadLetter,
  printWholeDeadLetter,
} from './deadLetter.ts'
export { findDeadLetter, isCursor, olderThan, readNewest, readWaiting } from './readDeadLetters.ts'
export { type Refused, type ReplayDeps, replayAll, replayDeadLetters } from './replay.ts'
export type { ReplayedDeadLetterTable } from './replayed.ts'
export { createDeadLetters, type DeadLetters, type RejectedAt, skippedDeadLetter } from './writer.ts'
