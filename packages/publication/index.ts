export {
  areaOf,
  createEpochs,
  EpochError,
  type Epochs,
  joinUnpublished,
  type PublishDeps,
  type Published,
  publishEvents,
  readUnpublished,
  type Unpublished,
} from './publishEvents.ts'
export * from './publishOrganizations.ts'
export * from './redis.ts'
export * from './revisions.ts'
export * from './shardHash.ts'
export * from './watermarks.ts'
