export { type Action, actionNames, commandActor, note, noteBothEnds, noteOf } from './administrators/audit.ts'
export * from './administrators/password.ts'
export * from './administrators/store.ts'
export type * from './administrators/tables.ts'
export * from './administrators/tokens.ts'
export { type Authenticator, openAuthenticator } from './authentication/authenticator.ts'
export type { KnownKey } from './authentication/keyCache.ts'
export { AuthenticationUnavailable } from './authentication/keySource.ts'
export { copyKey, readCopies } from './copies/redisCopy.ts'
export * from './keys/apiKey.ts'
export { findKeyOf, revokeKeyWithin, rotateKeyWithin } from './keys/ownKeys.ts'
export * from './keys/store.ts'
export * from './redis.ts'
export {
  type KeyRequests,
  openRequestCounts,
  type RequestCounts,
  readRequests,
  refusedStatuses,
} from './requests/requests.ts'
