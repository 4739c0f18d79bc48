import type { Command } from 'commander'
import { openCommand, withSchema } from '../../open.ts'
import { print, printMany, remark } from '../../output.ts'

export function addEventsList(events: Command): void {
  events
    .command('list')
    .description('list the organizations with their events: start, last sale, number of orders')
    .option('--organization <UUID>', 'only this organization')
    .option('--json', 'print one JSON object per line')
    .action(async (raw: { organization?: string; json?: true }) => {
      const { organizationOf } = await import('../keys/values.ts')
      const organizationId = raw.organization === undefined ? undefined : organizationOf(raw.organization)
      const { settings } = await openCommand()
      const listed = await withSchema(settings.databaseUrl, async db => {
        const { readEventList } = await import('@tally/figures')
        return readEventList(db, { organizationId })
      })
      const { eventJson, eventLine, heading } = await import('./lines.ts')
      if (listed.length === 0)
        return remark(
          organizationId === undefined
            ? 'no organization or event is known: no record has been applied yet'
            : `organization ${organizationId} is not known: see \`tally events list\``,
        )
      if (raw.json !== true) print(heading)
      await printMany(listed.map(raw.json === true ? eventJson : eventLine))
    })
}
