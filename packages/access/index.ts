export { type Action, commandActor, note, noteBothEnds, noteOf } from './administrators/audit.ts'
export { allowOnce, forgetTokens, ownerOfToken, useToken } from './administrators/oneTimeTokens.ts'
export * from './administrators/password.ts'
export { passwordProblem } from './administrators/passwordRules.ts'
export * from './administrators/store.ts'
export type * from './administrators/tables.ts'
export { newToken, sha256 } from './administrators/tokens.ts'
export { type Authenticator, type KnownKey, openAuthenticator } from './authentication/authenticator.ts'
export { AuthenticationUnavailable } from './authentication/keySource.ts'
export { copyKey, readCopies } from './copies/redisCopy.ts'
export * from './keys/apiKey.ts'
export { listActiveKeys, listEndedKeys, listKeys } from './keys/lists.ts'
export { findKeyOf, revokeKeyWithin, rotateKeyWithin } from './keys/ownKeys.ts'
export { createKey, createKeyWithin, findKeys, type NewKey, revokeKey } from './keys/store.ts'
export type { ApiKeyTable } from './keys/table.ts'
export { keyIdShape, makeToken, parseToken } from './keys/token.ts'
export * from './redis.ts'
export {
  type KeyRequests,
  openRequestCounts,
  type RequestCounts,
  readRequests,
  refusedStatuses,
} from './requests/requests.ts'
