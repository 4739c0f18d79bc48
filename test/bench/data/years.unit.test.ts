import { expect, test } from 'vitest'
import { openCount } from './count.ts'
import { openYears } from './years.ts'

const yearOf = openYears({
  seed: 1,
  ordersByEvent: [60, 90],
  days: 2,
  menuItems: 8,
  eventsOfAnOrganization: 1,
})
const first = yearOf(2016, 2)
const last = yearOf(2026, 3)

test.each([
  [2016, first, 4],
  [2026, last, 6],
])(
  'the answers of a year are those of a count of its own records (%i)',
  (year, { count, records }, events) => {
    const own = openCount()
    for (const { type, key, value } of records()) {
      const record = JSON.parse(String(value))
      expect(type === 'organizations' ? record.organizationId : record.eventId).toBe(key)
      own.add({ type, value: record })
    }
    expect(own.eventIds().toSorted()).toEqual(count.eventIds().toSorted())
    expect(own.eventIds()).toHaveLength(events)
    for (const eventId of own.eventIds()) {
      expect(count.answers(eventId)).toEqual(own.answers(eventId))
      expect(count.lastAnswers(eventId)).toEqual(own.lastAnswers(eventId))
      expect(count.organizationIdOf(eventId)).toBe(own.organizationIdOf(eventId))
    }
    expect([...records()].map(({ value }) => String(value)).join()).toContain(`"startDate":"${year}-09-04T`)
  },
)

test('an organization comes back every year, with other events', () => {
  const organizationsOf = ({ count }: typeof first) => count.eventIds().map(count.organizationIdOf)
  expect(organizationsOf(last).slice(0, 4)).toEqual(organizationsOf(first))
  expect(new Set(organizationsOf(last)).size).toBe(6)
  expect(new Set([...first.count.eventIds(), ...last.count.eventIds()]).size).toBe(10)
})
