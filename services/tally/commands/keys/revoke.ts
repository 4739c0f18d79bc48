import type { Command } from 'commander'
import { openCommand, withTransaction } from '../../open.ts'
import { print } from '../../output.ts'

export function addKeysRevoke(keys: Command): void {
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
      const { commandActor, note, printKey, revokeKey } = await import('@tally/access')
      const stored = await withTransaction(settings.databaseUrl, async tx => {
        const revoked = await revokeKey(tx, keyId)
        const { organizationId, name } = revoked.key
        await note(tx, commandActor(organizationId), { action: 'key-revoked', subject: keyId, detail: name })
        return revoked
      })
      print(JSON.stringify(printKey(stored.key)))
      const { copyToRedis } = await import('./copyToRedis.ts')
      await copyToRedis(settings, stored)
    })
}
