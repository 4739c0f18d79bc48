export { type ApiKey, printKey, type StoredKey } from './apiKey.ts'
export { type Authenticator, openAuthenticator } from './authenticator.ts'
export { AuthenticationUnavailable } from './keySource.ts'
export { findKeyOf, revokeKeyWithin, rotateKeyWithin } from './ownKeys.ts'
export { publishKeys } from './publish.ts'
export { type KeyRequests, openRequestCounts, readRequests, type RequestCounts } from './requests.ts'
export { copyKey } from './redisCopy.ts'
export {
  ApiKeyError,
  createKey,
  createKeyWithin,
  findKeys,
  listKeys,
  type MadeKey,
  type NewKey,
  revokeKey,
  touchKeys,
} from './store.ts'
export { keyIdShape, makeToken, parseToken } from './token.ts'
