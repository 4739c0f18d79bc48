import type { Command } from 'commander'
import { openCommand, withTransaction } from '../../open.ts'
import { print } from '../../output.ts'

type Raw = { organization: string; email: string; platform?: true; json?: true }

export function addCreate(administrators: Command): void {
  administrators
    .command('create')
    .description('create an administrator of an organization; reads the password from the terminal or stdin')
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
      const { commandActor, createAdministrator, hashPassword, note } = access
      const organizationId = organizationOf(raw.organization)
      const { emailOf, printAdministrator } = values
      const email = emailOf(raw.email)
      const { settings } = await openCommand()
      const passwordHash = await hashPassword(await readPassword(email))
      const wanted = { organizationId, email, isPlatform: raw.platform === true, passwordHash }
      const made = await withTransaction(settings.databaseUrl, async tx => {
        const administrator = await createAdministrator(tx, wanted)
        await note(tx, commandActor(organizationId), { action: 'administrator-created', subject: email })
        return administrator
      })
      const sentence = `${made.email} can sign in for organization ${organizationId}`
      print(raw.json ? JSON.stringify(printAdministrator(made)) : sentence)
    })
}
