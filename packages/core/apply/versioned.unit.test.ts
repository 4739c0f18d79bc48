import { organization } from '@tally/contract'
import { anEvent } from '@tally/testkit/records/decoded'
import { proLoco } from '@tally/testkit/records/records'
import { expect, test } from 'vitest'
import { applyEvent, applyOrganization } from './versioned.ts'

const anOrganization = (version: number, name = 'Pro Loco') =>
  organization.parse({ organizationId: proLoco, version, name, status: 'Trial' })

test('the first record of an organization is applied, then only higher versions', () => {
  expect(applyOrganization(undefined, anOrganization(1))).toMatchObject({ outcome: 'applied' })
  expect(applyOrganization({ version: 3 }, anOrganization(4, 'New'))).toMatchObject({ next: { name: 'New' } })
  expect(applyOrganization({ version: 3 }, anOrganization(3))).toEqual({ outcome: 'duplicate' })
  expect(applyOrganization({ version: 3 }, anOrganization(2))).toEqual({ outcome: 'duplicate' })
})

test('the highest version of an event wins, whenever it arrives', () => {
  const known = anEvent({ version: 5 })
  expect(applyEvent(undefined, known)).toEqual({ outcome: 'applied', next: known })
  expect(applyEvent(known, anEvent({ version: 6 }))).toMatchObject({
    outcome: 'applied',
    next: { version: 6 },
  })
  expect(applyEvent(known, anEvent({ version: 5, name: 'Other' }))).toEqual({ outcome: 'duplicate' })
})

test.each([1, 5, 9])('an event never changes organization, whatever the version (%i)', version => {
  const moved = anEvent({ version, organizationId: '0b5a0000-0000-4000-8000-0000000000ff' })
  const outcome = applyEvent(anEvent({ version: 5 }), moved)
  expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'conflict' })
  expect(JSON.stringify(outcome)).not.toContain(moved.organizationId)
})
