import type { OrganizationId } from '@tally/contract'
import { composeOrganization } from '@tally/publication'
import type { RepairDeps } from '../deps.ts'
import { type Meeting, meetRedis, type Patience } from './settle.ts'
import { type Report, redisFindings } from './verifyEvent.ts'

/**
 * Compares an organization's status and list of events in Redis with Postgres, at one revision.
 * `missed`: they were never read at the same revision.
 */
export async function verifyOrganization(
  { db, redis, keys }: RepairDeps,
  organization: OrganizationId,
  report: Report,
  patience?: Patience,
): Promise<Meeting> {
  const meet = meetRedis(redis, keys.organization(organization), patience)
  for (;;) {
    const document = await composeOrganization(db, organization)
    if (document === undefined) {
      report({
        organization,
        where: 'postgres',
        what: 'its row in organizations',
        found: null,
        counted: 'a row',
      })
      return 'met'
    }
    const { meeting, published } = await meet(document.revision)
    if (meeting === 'again') continue
    if (meeting === 'missed') return meeting
    const should = new Map([
      ['revision', String(document.revision)],
      ['events', JSON.stringify(document.events)],
      ...(document.status === undefined ? [] : [['status', document.status] as const]),
    ])
    for (const finding of redisFindings(should, published)) report({ organization, ...finding })
    return meeting
  }
}
