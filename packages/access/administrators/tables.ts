import type { Instant } from '@tally/platform'
import type { Generated } from 'kysely'

/** People who may sign in to the administration area. */
export type AdministratorTable = {
  administrator_id: Generated<string>
  organization_id: string
  /** In lower case; no two administrators have the same. */
  email: string
  password_hash: string
  /** Whether they may also open the operations page. */
  is_platform: boolean
  /** Their identity at the OpenID provider, `<issuer> <subject>`; set by the first sign-in through it. */
  oidc_subject: string | null
  created_at: Instant
  /** Until when they may set up a second factor if it is required. */
  enrol_until: Instant<null>
  /** The second factor's secret and one that is being set up, encrypted, and the time step of the last used code. */
  totp_secret: Generated<string | null>
  totp_candidate: Generated<string | null>
  totp_used_step: Generated<number>
}

/** A code that replaces the second factor once, by its SHA-256. */
export type RecoveryCodeTable = { administrator_id: string; code_sha256: Buffer }

/** A passkey, which is a second factor: what an authenticator signs with it, its public key verifies. */
export type PasskeyTable = {
  passkey_id: Generated<number>
  administrator_id: string
  /** As the browser names it, in base64url. */
  credential_id: string
  public_key: Buffer
  counter: number
  transports: string[]
  name: string
  created_at: Instant
  last_used_at: Instant<null>
}

/** A session, by the SHA-256 of its token. */
export type AdminSessionTable = {
  session_sha256: Buffer
  session_id: Generated<number>
  administrator_id: string
  created_at: Instant
  last_seen_at: Instant
  /** Where the sign-in came from, and its User-Agent. */
  address: Generated<string>
  browser: Generated<string>
  /** When the administrator last proved who they are. */
  confirmed_at: Instant
  /** When they last proved their second factor in it. */
  factor_at: Instant<null>
  /** Whether it began through the OpenID provider. */
  is_oidc: Generated<boolean>
}

/** A browser in which an administrator has signed in, by the SHA-256 of its cookie. */
export type KnownDeviceTable = { device_sha256: Buffer; administrator_id: string; last_used_at: Instant }

/** A token that allows one thing once, by its SHA-256. */
export type OneTimeTokenTable = {
  token_sha256: Buffer
  purpose: string
  /** Null before a sign-in. */
  administrator_id: string | null
  ends_at: Instant
  /** Whether a new password set with it also removes the second factor. */
  removes_second_factor: Generated<boolean>
}

/** Attempts to sign in within the window that ends at `ends_at`, by what is counted. */
export type SignInAttemptTable = { subject_sha256: Buffer; attempts: number; ends_at: Instant }

/** Who did what, when and from where. An entry without an organization is the platform team's, by the command line. */
export type AuditEntryTable = {
  audit_id: Generated<number>
  organization_id: string | null
  at: Instant
  email: string
  action: string
  subject: string | null
  detail: string | null
  address: string
}

declare module '@tally/platform/database' {
  interface Database {
    administrators: AdministratorTable
    admin_sessions: AdminSessionTable
    recovery_codes: RecoveryCodeTable
    passkeys: PasskeyTable
    known_devices: KnownDeviceTable
    one_time_tokens: OneTimeTokenTable
    sign_in_attempts: SignInAttemptTable
    audit_entries: AuditEntryTable
  }
}
