import type { Command } from 'commander'
import { openCommand, withTransaction } from '../../open.ts'
import { print } from '../../output.ts'

type Raw = { organization: string; email: string; platform?: true; link?: true; json?: true }

export function addAdministratorsCreate(administrators: Command): void {
  administrators
    .command('create')
    .description('create an administrator of an organization; reads the password from the terminal or stdin')
    .option(
      '--link',
      'print a link with which they set their password, once, within 30 minutes, in place of reading one',
    )
    .requiredOption('--organization <UUID>', 'the organization whose keys and sales they see')
    .requiredOption('--email <EMAIL>', 'what they sign in with; case does not matter')
    .option('--platform', 'give access to the operations page, which covers all organizations')
    .option('--json', 'print one JSON object')
    .action(async (raw: Raw) => {
      const [{ organizationOf }, values, access, { readPassword }] = await Promise.all([
        import('../keys/values.ts'),
        import('./values.ts'),
        import('@tally/access'),
        import('./readPassword.ts'),
      ])
      const { beginReset, commandActor, createAdministrator, hashPassword, newToken, note } = access
      const organizationId = organizationOf(raw.organization)
      const { emailOf, linkOf, printAdministrator } = values
      const email = emailOf(raw.email)
      const { settings } = await openCommand()
      // With a link, a random password until then.
      const passwordHash = await hashPassword(raw.link ? newToken() : await readPassword(email))
      const wanted = { organizationId, email, isPlatform: raw.platform === true, passwordHash }
      const { made, token } = await withTransaction(settings.databaseUrl, async tx => {
        const made = await createAdministrator(tx, wanted)
        const actor = commandActor(organizationId)
        await note(tx, actor, { action: 'administrator-created', subject: email })
        if (!raw.link) return { made, token: undefined }
        await note(tx, actor, { action: 'reset-link-made', subject: email })
        return { made, token: (await beginReset(tx, email)).token }
      })
      const link = token === undefined ? undefined : linkOf(settings.admin, token)
      const sentence = link ?? `${made.email} can sign in for organization ${organizationId}`
      print(raw.json ? JSON.stringify({ ...printAdministrator(made), link }) : sentence)
    })
}
