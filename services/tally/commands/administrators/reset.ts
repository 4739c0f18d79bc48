import type { Command } from 'commander'
import { openCommand, withTransaction } from '../../open.ts'
import { print } from '../../output.ts'

export function addAdministratorsReset(administrators: Command): void {
  administrators
    .command('reset')
    .description('print a link with which an administrator sets a new password, once, within 30 minutes')
    .requiredOption('--email <EMAIL>', 'the administrator')
    .option('--second-factor', 'the link also turns the second factor off, for someone who lost it')
    .option('--json', 'print one JSON object')
    .action(async (raw: { email: string; secondFactor?: true; json?: true }) => {
      const [{ emailOf, linkOf }, { beginReset, commandActor, note }] = await Promise.all([
        import('./values.ts'),
        import('@tally/access'),
      ])
      const email = emailOf(raw.email)
      const { settings } = await openCommand()
      const token = await withTransaction(settings.databaseUrl, async tx => {
        const removesSecondFactor = raw.secondFactor === true
        const { token, organizationId } = await beginReset(tx, email, { removesSecondFactor })
        const detail = removesSecondFactor ? 'also removes the second factor' : null
        await note(tx, commandActor(organizationId), { action: 'reset-link-made', subject: email, detail })
        return token
      })
      const link = linkOf(settings.admin, token)
      print(raw.json ? JSON.stringify({ email, link }) : link)
    })
}
