import { eventId, maxInteger } from '@tally/contract'
import { type ListedEvent, readEventsOf, resolveDay } from '@tally/figures'
import type { Postgres } from '@tally/platform'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { notFound } from '../http/problem.ts'
import { type ActiveEvent, activeEventsOf } from '../keys/events.ts'
import { sessionOf } from '../signIn/guard.ts'

const id = z
  .string()
  .regex(/^[1-9]\d{0,9}$/)
  .transform(Number)
  .pipe(z.number().max(maxInteger))

/** The menu item that is asked for. */
export const itemId = z.object({ item: id })

/** A form sends an empty `area` for all areas. */
const asked = z.object({
  eventId: eventId.optional(),
  day: id.optional(),
  area: z.union([id, z.literal('')]).optional(),
})

/** An event and its day, which is undefined if the event has none; without an area, over all areas. */
export type Picked<Of extends ListedEvent = ListedEvent> = {
  event: Of
  dayId: number | undefined
  areaId?: number | undefined
}

/** With the events of the organization, to pick another one. */
export type PickedOfAll = Picked<ActiveEvent> & { events: ActiveEvent[] }

/**
 * The requested event and day; by default the event with the latest sale, or the first if nothing was sold yet, and its
 * open or last day. 404 if it is not the organization's; undefined if the organization has no events.
 */
export async function pickOfAll(db: Postgres, request: FastifyRequest): Promise<PickedOfAll | undefined> {
  const wish = wishOf(request)
  const events = await activeEventsOf(db, sessionOf(request).organizationId)
  const latest = latestSale(events)
  if (wish.eventId === undefined && latest === undefined) return undefined
  const named = events.find(({ eventId }) => eventId === wish.eventId)
  return { events, ...picked(wish.eventId === undefined ? latest : named, wish) }
}

/**
 * The same for streams, sheets and files, which show only the requested day and area: 404 if the event does not list
 * them, or if there are no events. Sales are read only if the request names no event.
 */
export async function pickDay(db: Postgres, request: FastifyRequest): Promise<Picked> {
  const wish = wishOf(request)
  const found =
    wish.eventId === undefined
      ? await pickOfAll(db, request)
      : picked((await readEventsOf(db, sessionOf(request).organizationId, wish.eventId))[0], wish)
  const { day = found?.dayId, area } = wish
  if (found === undefined || found.dayId !== day || found.areaId !== (area || undefined)) throw notFound()
  return found
}

type Wish = z.output<typeof asked>

function wishOf({ query }: FastifyRequest): Wish {
  const read = asked.safeParse(query)
  if (!read.success) throw notFound()
  return read.data
}

function picked<Of extends ListedEvent>(event: Of | undefined, { day, area }: Wish): Picked<Of> {
  if (event === undefined) throw notFound()
  const isDay = event.days.some(({ dayId }) => dayId === day)
  const areaId = event.areas.find(({ areaId }) => areaId === area)?.areaId
  return { event, dayId: isDay ? day : resolveDay(event.days)?.dayId, areaId }
}

const latestSale = (events: ActiveEvent[]): ActiveEvent | undefined =>
  events.toSorted((one, other) => (other.lastSaleAt ?? -1) - (one.lastSaleAt ?? -1))[0]
