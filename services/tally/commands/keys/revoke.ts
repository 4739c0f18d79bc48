import type { Command } from 'commander'
import { openCommand, withSchema } from '../../open.ts'
import { print } from '../../output.ts'

export function addRevoke(keys: Command): void {
  keys
    .command('revoke')
    .description(
      'revoke a key and print it as one JSON object; a key that is already revoked does not change',
    )
    .argument('<KEYID>', 'the 12 characters after `tally_`')
    .option('--json', 'print one JSON object (always on)')
    .action(async (text: string) => {
      const { keyIdOf } = await import('./values.ts')
      const keyId = keyIdOf(text)
      const { settings } = await openCommand()
      const { printKey, revokeKey } = await import('@tally/access')
      const stored = await withSchema(settings.databaseUrl, db => revokeKey(db, keyId))
      print(JSON.stringify(printKey(stored.key)))
      const { copyToRedis } = await import('./copyToRedis.ts')
      await copyToRedis(settings, stored)
    })
}
