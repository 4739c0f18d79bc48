import type { Organization } from '@tally/contract'
import { lockOrganizations, storeOrganizations } from '@tally/figures'
import { nextRevision } from '@tally/offsets'
import type { Tx } from '@tally/platform'
import { addOutcome, type Effects, noEffects, type Placed } from '../effects.ts'
import { applyOrganization, differingField, organizationContent } from '../judge/versions.ts'

/** Applies the organization records of one batch. */
export async function applyOrganizations(
  tx: Tx,
  _shard: number,
  records: Placed<Organization>[],
): Promise<Effects> {
  const effects = noEffects()
  const locked = await lockOrganizations(tx, [...new Set(records.map(({ value }) => value.organizationId))])
  const winners = new Map<Organization['organizationId'], Organization>()

  for (const { offset, value: organization } of records) {
    const id = organization.organizationId
    const known = winners.get(id) ?? locked.get(id)
    const outcome = applyOrganization(
      known,
      organization,
      () => known && differingField(organizationContent(known), organizationContent(organization)),
    )
    addOutcome(effects, offset, outcome)
    if (outcome.outcome === 'applied') winners.set(id, outcome.next)
  }
  if (winners.size === 0) return effects

  const revision = await nextRevision(tx)
  await storeOrganizations(tx, [...winners.values()], revision)
  for (const id of winners.keys()) effects.organizations.add(id)
  return { ...effects, revision }
}
