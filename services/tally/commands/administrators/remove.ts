import type { Command } from 'commander'
import { openCommand, withTransaction } from '../../open.ts'
import { print } from '../../output.ts'

export function addAdministratorsRemove(administrators: Command): void {
  administrators
    .command('remove')
    .description('remove an administrator and end their sessions')
    .requiredOption('--email <EMAIL>', 'the administrator')
    .action(async (raw: { email: string }) => {
      const [{ emailOf }, { commandActor, note, removeAdministrator }] = await Promise.all([
        import('./values.ts'),
        import('@tally/access'),
      ])
      const email = emailOf(raw.email)
      const { settings } = await openCommand()
      await withTransaction(settings.databaseUrl, async tx => {
        const { organizationId } = await removeAdministrator(tx, email)
        await note(tx, commandActor(organizationId), { action: 'administrator-removed', subject: email })
      })
      print(`${email} can no longer sign in`)
    })
}
