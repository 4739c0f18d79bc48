import type { OrganizationId } from '@tally/contract'
import { composeOrganization } from '@tally/publication'
import type { RepairDeps } from '../deps.ts'
import { type Convergence, type ConvergeTimeouts, convergeWithRedis } from './converge.ts'
import { type Report, redisFindings } from './verifyEvent.ts'

/**
 * Compares an organization's status and list of events in Redis with Postgres, at one revision.
 * `timed-out`: they were never read at the same revision.
 */
export async function verifyOrganization(
  { db, redis, keys }: RepairDeps,
  organization: OrganizationId,
  report: Report,
  timeouts?: ConvergeTimeouts,
): Promise<Convergence> {
  const converge = convergeWithRedis(redis, keys.organization(organization), timeouts)
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
      return 'in-sync'
    }
    const { convergence, published } = await converge(document.revision)
    if (convergence === 'again') continue
    if (convergence === 'timed-out') return convergence
    const should = new Map([
      ['revision', String(document.revision)],
      ['events', JSON.stringify(document.events)],
      ...(document.status === undefined ? [] : [['status', document.status] as const]),
    ])
    for (const finding of redisFindings(should, published)) report({ organization, ...finding })
    return convergence
  }
}
