import type { Command } from 'commander'
import { openCommand, withSchema } from '../../open.ts'
import { print, remark } from '../../output.ts'

export function addAdministratorsList(administrators: Command): void {
  administrators
    .command('list')
    .description('list the administrators, and who has a second factor; never a password')
    .option('--organization <UUID>', 'only those of this organization')
    .option('--json', 'print one JSON object per line')
    .action(async (raw: { organization?: string; json?: true }) => {
      const [{ organizationOf }, { printAdministrator }, { listAdministrators }] = await Promise.all([
        import('../keys/values.ts'),
        import('./values.ts'),
        import('@tally/access'),
      ])
      const organizationId = raw.organization === undefined ? undefined : organizationOf(raw.organization)
      const { settings } = await openCommand()
      const found = await withSchema(settings.databaseUrl, db => listAdministrators(db, organizationId))
      for (const administrator of found) {
        const { organizationId, email, isPlatform, hasSecondFactor } = administrator
        const marks = `${isPlatform ? '  platform' : ''}${hasSecondFactor ? '  second factor' : ''}`
        const line = `${organizationId}  ${email}${marks}`
        print(raw.json ? JSON.stringify(printAdministrator(administrator)) : line)
      }
      if (found.length === 0)
        remark(`there are no administrators${raw.organization ? ' of this organization' : ''}`)
    })
}
