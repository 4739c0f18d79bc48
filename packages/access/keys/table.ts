import type { Scope } from '@tally/contract'
import type { Instant } from '@tally/platform'
import type { Generated } from 'kysely'

/** The keys of the API. */
export type ApiKeyTable = {
  key_id: string
  secret_sha256: Buffer
  organization_id: string
  name: string
  scopes: Scope[]
  event_id: string | null
  created_at: Instant
  expires_at: Instant<null>
  revoked_at: Instant<null>
  last_used_at: Instant<null>
  /** The id of the last transaction that changed more than `last_used_at`; set by a trigger. */
  changed_by: Generated<number>
}

declare module '@tally/platform/database' {
  interface Database {
    api_keys: ApiKeyTable
  }
}
