import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Surroundings, tally } from './tally.ts'

/** A sign-in to the administration area. */
export interface SignIn {
  email: string
  password: string
}

/**
 * The first administrator of an organization, of the platform team too. That of an earlier run is used again, so that
 * its sign-in keeps working; it is kept in `file`, readable only by its owner.
 */
export async function demoAdministrator(
  file: string,
  organizationId: string,
  around: Surroundings,
): Promise<SignIn> {
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SignIn) : undefined
  const signIn = kept ?? { email: 'anna@example.org', password: randomBytes(12).toString('base64url') }
  const whose = ['--organization', organizationId, '--email', signIn.email, '--platform']
  await tally(['administrators', 'create', ...whose], around, `${signIn.password}\n`).catch(error => {
    around.signal.throwIfAborted()
    const isThere = kept !== undefined && /is already an administrator/.test(String(error))
    if (!isThere) throw error
  })
  writeFileSync(file, JSON.stringify(signIn), { mode: 0o600 })
  return signIn
}
