import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { log } from '../words.ts'
import { type RunContext, tally } from './tally.ts'

/** A sign-in to the administration area. */
export type SignIn = {
  email: string
  password: string
}

/**
 * The first administrator of an organization, of the platform team too. That of an earlier run is used again, so that
 * its sign-in keeps working; it is kept in `file`, readable only by its owner. Undefined if there is one whose password
 * is not kept: then a line says how to set another.
 */
export async function demoAdministrator(
  file: string,
  organizationId: string,
  context: RunContext,
): Promise<SignIn | undefined> {
  const kept = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as SignIn) : undefined
  const signIn = kept ?? { email: 'anna@example.org', password: randomBytes(12).toString('base64url') }
  const whose = ['--organization', organizationId, '--email', signIn.email, '--platform']
  const create = tally(['administrators', 'create', ...whose], context, `${signIn.password}\n`)
  const isNew = await create.then(
    () => true,
    error => {
      context.signal.throwIfAborted()
      if (!/is already an administrator/.test(String(error))) throw error
      return false
    },
  )
  if (!isNew && kept === undefined) {
    const reset = `npx tally administrators reset --email ${signIn.email}`
    log(
      `${signIn.email} is an administrator from before, whose password is not kept here: ${reset} sets another`,
    )
    return undefined
  }
  writeFileSync(file, JSON.stringify(signIn), { mode: 0o600 })
  return signIn
}
