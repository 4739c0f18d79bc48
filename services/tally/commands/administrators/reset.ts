import type { Command } from 'commander'
import { openCommand, withTransaction } from '../../open.ts'
import { print } from '../../output.ts'

export function addReset(administrators: Command): void {
  administrators
    .command('reset')
    .description('print a link with which an administrator sets a new password, once, within 30 minutes')
    .requiredOption('--email <EMAIL>', 'the administrator')
    .option('--second-factor', 'also turn the second factor off, for someone who lost it')
    .option('--json', 'print one JSON object')
    .action(async (raw: { email: string; secondFactor?: true; json?: true }) => {
      const [{ emailOf }, { beginReset, commandActor, note, removeSecondFactor }] = await Promise.all([
        import('./values.ts'),
        import('@tally/access'),
      ])
      const email = emailOf(raw.email)
      const { settings } = await openCommand()
      const token = await withTransaction(settings.databaseUrl, async tx => {
        const { token, administratorId, organizationId } = await beginReset(tx, email)
        const actor = commandActor(organizationId)
        await note(tx, actor, { action: 'reset-link-made', subject: email })
        if (raw.secondFactor) {
          await removeSecondFactor(tx, administratorId)
          await note(tx, actor, { action: 'second-factor-removed', subject: email })
        }
        return token
      })
      const { url, host, port } = settings.admin
      const link = `${url ?? `http://${host}:${port}`}/reset/${token}`
      print(raw.json ? JSON.stringify({ email, link }) : link)
    })
}
