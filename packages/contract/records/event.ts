import { z } from 'zod'
import { areaId, dayId, eventId, menuItemId, organizationId, version } from '../values/ids.ts'
import { name, text } from '../values/text.ts'
import { date, timestamp, timeZone } from '../values/time.ts'

const area = z.object({ areaId, name })

const day = z
  .object({ dayId, date, openedAt: timestamp, closedAt: timestamp.nullish().transform(at => at ?? null) })
  .refine(({ openedAt, closedAt }) => closedAt === null || closedAt >= openedAt, {
    path: ['closedAt'],
    message: 'must not be before openedAt',
  })

const menuItem = z.object({ menuItemId, name, categoryName: text(0, 200) })

/** A record of the events topic: the whole event at one version (docs/records.md, Event). */
export const event = z
  .object({
    eventId,
    organizationId,
    version,
    name,
    startDate: timestamp,
    timeZone,
    areas: uniqueList(area, 200, ({ areaId }) => areaId),
    days: uniqueList(day, 1000, ({ dayId }) => dayId).refine(
      days => days.filter(({ closedAt }) => closedAt === null).length <= 1,
      'must have at most one day without closedAt',
    ),
    menuItems: uniqueList(menuItem, 2000, ({ menuItemId }) => menuItemId),
  })
  .meta({ title: 'Event' })
export type Event = z.output<typeof event>
export type EventDay = Event['days'][number]

/** The example of docs/records.md, Event. */
export const eventExample = {
  eventId: '7c1e0000-0000-4000-8000-000000000001',
  organizationId: '0b5a0000-0000-4000-8000-000000000001',
  version: 12,
  name: 'Sagra del Pesce',
  startDate: '2026-09-04T16:00:00Z',
  timeZone: 'Europe/Rome',
  areas: [
    { areaId: 1, name: 'Kitchen' },
    { areaId: 2, name: 'Bar' },
  ],
  days: [
    { dayId: 41, date: '2026-09-04', openedAt: '2026-09-04T16:00:00Z', closedAt: '2026-09-05T00:10:00Z' },
    { dayId: 42, date: '2026-09-05', openedAt: '2026-09-05T16:00:00Z', closedAt: null },
  ],
  menuItems: [{ menuItemId: 7, name: 'Fritto misto', categoryName: 'Fish' }],
}

function uniqueList<Entry extends z.ZodType>(
  entry: Entry,
  max: number,
  id: (value: z.output<Entry>) => number,
) {
  return z
    .array(entry)
    .max(max, `must have at most ${max} entries`)
    .refine(list => new Set(list.map(id)).size === list.length, 'must not hold an id twice')
}
