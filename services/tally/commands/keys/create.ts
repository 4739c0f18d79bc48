import type { ApiKey, NewKey } from '@tally/access'
import type { Command } from 'commander'
import { openCommand, withTransaction } from '../../open.ts'
import { printSurely } from '../../output.ts'

type Raw = {
  organization: string
  name: string
  scope: string[]
  event?: string
  expiresAt?: string
  json?: true
}

export function addKeysCreate(keys: Command): void {
  keys
    .command('create')
    .description('create a key and print its token, which is shown only once')
    .requiredOption('--organization <UUID>', 'whose data it reads; `tally events list` shows the ids')
    .requiredOption('--name <NAME>', 'what it is for, 1 to 200 characters')
    .requiredOption(
      '--scope <SCOPE>',
      'events:read, analytics:read or orders:read; may be given several times',
      (scope: string, before: string[] = []) => [...before, scope],
    )
    .option('--event <UUID>', 'bind it to one event of that organization')
    .option('--expires-at <TS>', 'refuse it from this RFC 3339 timestamp on, such as 2026-12-31T23:59:59Z')
    .option('--json', 'print one JSON object')
    .action(async (raw: Raw) => {
      const wanted = await parseWanted(raw)
      const { settings } = await openCommand()
      const { commandActor, createKeyWithin, note } = await import('@tally/access')
      const { stored } = await withTransaction(settings.databaseUrl, async tx => {
        const made = await createKeyWithin(tx, wanted)
        const { keyId, name, organizationId } = made.stored.key
        await note(tx, commandActor(organizationId), { action: 'key-created', subject: keyId, detail: name })
        // Before the commit: a key whose token was not shown is of no use.
        await printMade(made.stored.key, made.token, raw.json === true)
        return made
      })
      const { copyToRedis } = await import('./copyToRedis.ts')
      await copyToRedis(settings, stored)
    })
}

async function parseWanted(raw: Raw): Promise<NewKey> {
  const values = await import('./values.ts')
  return {
    organizationId: values.organizationOf(raw.organization),
    name: values.nameOf(raw.name),
    scopes: values.scopesOf(raw.scope),
    eventId: raw.event === undefined ? null : values.eventOf(raw.event),
    expiresAt: raw.expiresAt === undefined ? null : values.expiryOf(raw.expiresAt, Date.now()),
  }
}

async function printMade(key: ApiKey, token: string, asJson: boolean): Promise<void> {
  const { printKey } = await import('@tally/access')
  const printed = printKey(key)
  if (asJson) return printSurely(JSON.stringify({ ...printed, token }))
  return printSurely(
    `token         ${token}   (shown only once: store it now)`,
    `key id        ${printed.keyId}`,
    `name          ${printed.name}`,
    `organization  ${printed.organizationId}`,
    `event         ${printed.eventId ?? 'all of the organization'}`,
    `scopes        ${printed.scopes.join(', ')}`,
    `expires       ${printed.expiresAt ?? 'never'}`,
  )
}
