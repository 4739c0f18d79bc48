import { expect } from 'vitest'
import { type Fixture, newEvent, newOffice, newVisitor } from './fixture.ts'

const areas = [
  { areaId: 1, name: 'Cucina' },
  { areaId: 2, name: 'Bar' },
]
const menuItems = [
  { menuItemId: 9, name: 'Frico', categoryName: 'Secondi' },
  { menuItemId: 7, name: 'Acqua', categoryName: 'Bibite' },
  { menuItemId: 8, name: 'Polenta', categoryName: 'Secondi' },
]

/** What the form of a new link sends. */
export const link30Days = { name: 'Hall', shows: 'money', area: '', ends: 'month', lastDay: '' }

/** An administrator with an event, and a screen that opened a link to it; `area` is an area's number. */
export async function openLink(fixture: Fixture, wanted: Record<string, string> = {}) {
  const office = await newOffice(fixture)
  const visitor = newVisitor(fixture.app)
  await visitor.signIn(office.email)
  const eventId = await newEvent(fixture, office.organizationId, { areas, menuItems })
  const area = wanted.area === undefined ? '' : `${eventId}:${wanted.area}`
  const form = { ...link30Days, eventId, ...wanted, area }
  const made = await visitor.post('/screens', form, { from: '/screens' })
  expect(made.statusCode).toBe(201)
  const link = /\/screen\/[\w-]{43}/.exec(made.body)?.[0] ?? ''
  const screen = newVisitor(fixture.app)
  const opened = await screen.get(link)
  const page = String(opened.headers.location)
  expect([opened.statusCode, page]).toEqual([303, expect.stringMatching(/^\/screen\/\d+$/)])
  return { ...office, visitor, eventId, link, screen, page }
}
