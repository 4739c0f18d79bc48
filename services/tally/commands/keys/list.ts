import type { ApiKey, printKey } from '@tally/access'
import type { Command } from 'commander'
import { openCommand, withSchema } from '../../open.ts'
import { printMany, remark } from '../../output.ts'

export function addKeysList(keys: Command): void {
  keys
    .command('list')
    .description('list the keys of an organization, the oldest first; never a token')
    .requiredOption('--organization <UUID>', 'whose keys')
    .option('--json', 'print one JSON object per line')
    .action(async (raw: { organization: string; json?: true }) => {
      const { organizationOf } = await import('./values.ts')
      const organizationId = organizationOf(raw.organization)
      const { settings } = await openCommand()
      const { listKeys, printKey } = await import('@tally/access')
      const lineOf = (key: ApiKey) => (raw.json ? JSON.stringify(printKey(key)) : textOf(printKey(key), key))
      let found = 0
      await withSchema(settings.databaseUrl, async db => {
        for await (const keys of listKeys(db, organizationId)) {
          await printMany(keys.map(lineOf))
          found += keys.length
        }
      })
      if (found === 0) remark(`organization ${organizationId} has no keys`)
    })
}

type Printed = ReturnType<typeof printKey>

function textOf(printed: Printed, key: ApiKey): string {
  const { keyId, scopes, eventId, lastUsedAt, name } = printed
  const bound = eventId === null ? '' : `  event ${eventId}`
  return `${keyId}  ${stateOf(printed, key)}  used ${lastUsedAt ?? 'never'}  ${scopes.join(',')}${bound}  ${name}`
}

function stateOf({ revokedAt, expiresAt }: Printed, key: ApiKey): string {
  if (revokedAt !== null) return `revoked ${revokedAt}`
  if (key.expiresAt === null) return 'good'
  return `${key.expiresAt <= Date.now() ? 'expired' : 'good until'} ${expiresAt}`
}
