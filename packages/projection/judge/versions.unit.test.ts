import { type Event, type Organization, organization } from '@tally/contract'
import { anEvent } from '@tally/testkit/records/decoded'
import * as records from '@tally/testkit/records/records'
import { expect, test } from 'vitest'
import * as versions from './versions.ts'

const applyOrganization = (known: Organization | undefined, record: Organization) =>
  versions.applyOrganization(known, record, differing(known, record, versions.organizationContent))
const applyEvent = (known: Event | undefined, record: Event) =>
  versions.applyEvent(known, record, differing(known, record, versions.eventContent))

const differing =
  <Value>(known: Value | undefined, record: Value, content: (value: Value) => versions.Content) =>
  () =>
    known && versions.differingField(content(known), content(record))

const anOrganization = (version: number, name = 'Pro Loco') =>
  organization.parse({ organizationId: records.proLoco, version, name, status: 'Trial' })

test('the highest version of an event wins, whenever it arrives', () => {
  const known = anEvent({ version: 5 })
  expect(applyEvent(undefined, known)).toEqual({ outcome: 'applied', next: known })
  expect(applyEvent(known, anEvent({ version: 6 }))).toMatchObject({
    outcome: 'applied',
    next: { version: 6 },
  })
  expect(applyEvent(known, anEvent({ version: 5 }))).toEqual({ outcome: 'duplicate' })
  expect(applyEvent(known, anEvent({ version: 4, name: 'Other' }))).toEqual({ outcome: 'duplicate' })
})

test('a record with the applied version that says something else is a contradiction that names the field', () => {
  const contradicts = (field: string) => ({
    outcome: 'rejected',
    reason: 'contradiction',
    message: expect.stringMatching(new RegExp(`^${field}: `)),
  })
  expect(applyOrganization(anOrganization(3), anOrganization(3, 'Other'))).toEqual(contradicts('name'))
  const known = anEvent()
  const changed = {
    name: 'Other',
    startDate: '2026-09-04T16:00:00.001Z',
    timeZone: 'Europe/Berlin',
    areas: [],
  }
  for (const [field, value] of Object.entries({ ...changed, days: [], menuItems: [] }))
    expect(applyEvent(known, anEvent({ [field]: value }))).toEqual(contradicts(field))
  expect(JSON.stringify(applyEvent(known, anEvent({ timeZone: 'Europe/Vatican' })))).not.toContain('Vatican')
})

test("an event's lists are compared in any order, and a field that was not kept is not compared", () => {
  const { areas, days, menuItems } = records.anEvent()
  const shuffled = { areas: areas.toReversed(), days: days.toReversed(), menuItems: menuItems.toReversed() }
  expect(applyEvent(anEvent(), anEvent(shuffled))).toEqual({ outcome: 'duplicate' })
  const { startDate: _, ...older } = anEvent()
  expect(applyEvent(older as Event, anEvent())).toEqual({ outcome: 'duplicate' })
  const withoutNames = { ...anEvent(), areas: anEvent().areas.map(({ areaId }) => ({ areaId })) }
  expect(applyEvent(withoutNames as Event, anEvent())).toEqual({ outcome: 'duplicate' })
})

test.each([1, 5, 9])('an event never changes organization, whatever the version (%i)', version => {
  const moved = anEvent({ version, organizationId: '0b5a0000-0000-4000-8000-0000000000ff' })
  const outcome = applyEvent(anEvent({ version: 5 }), moved)
  expect(outcome).toMatchObject({ outcome: 'rejected', reason: 'conflict' })
  expect(JSON.stringify(outcome)).not.toContain(moved.organizationId)
})
