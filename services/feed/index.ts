export { listOrganizations } from './festivals/index.ts'
export { type KeptRun, openKept, readKept } from './kept.ts'
export {
  FeedOptionError,
  type FeedOptions,
  feedDefaults,
  parseFeedOptions,
  type RawFeedOptions,
} from './options.ts'
export { type Clock, type Pace, wallClock } from './pace.ts'
export { type FeedPosition, type FeedProgress, openProgress } from './progress.ts'
export type { FeedRecord, FeedTopic, TopicRecord } from './record.ts'
export { isBlank, recordLineOf, topicRule } from './recordLine.ts'
export { type FeedOutlets, type FeedSummary, runFeed } from './run.ts'
export { linesOf } from './simulate/lines.ts'
export { type Simulation, simulate } from './simulate/simulate.ts'
