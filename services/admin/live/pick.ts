import { eventId, maxInteger } from '@tally/contract'
import { resolveDay } from '@tally/core'
import type { Postgres } from '@tally/storage'
import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { notFound } from '../http/problem.ts'
import { type ActiveEvent, activeEventsOf } from '../keys/events.ts'
import { sessionOf } from '../signIn/guard.ts'

const asked = z.object({
  eventId: eventId.optional(),
  day: z
    .string()
    .regex(/^[1-9]\d{0,9}$/)
    .transform(Number)
    .pipe(z.number().max(maxInteger))
    .optional(),
})

/** An event and its day, which is undefined if the event has none, among the events of the organization. */
export type Picked = { events: ActiveEvent[]; event: ActiveEvent; dayId: number | undefined }

/**
 * The requested event and day; by default the event with the latest sale, or the first if nothing was sold yet, and its
 * open or last day. 404 if it is not the organization's; undefined if the organization has no events.
 */
export async function pickDayIfAny(db: Postgres, request: FastifyRequest): Promise<Picked | undefined> {
  const read = asked.safeParse(request.query)
  if (!read.success) throw notFound()
  const { eventId: id, day } = read.data
  const events = await activeEventsOf(db, sessionOf(request).organizationId)
  const event = id === undefined ? latestSale(events) : events.find(one => one.eventId === id)
  if (event === undefined) {
    if (id === undefined) return undefined
    throw notFound()
  }
  const isDay = event.days.some(({ dayId }) => dayId === day)
  // If the event is changed in the form, the URL still has a day of the one before.
  return { events, event, dayId: isDay ? day : resolveDay(event.days)?.dayId }
}

/** The same; 404 if there are no events. */
export async function pickDay(db: Postgres, request: FastifyRequest): Promise<Picked> {
  const picked = await pickDayIfAny(db, request)
  if (picked === undefined) throw notFound()
  return picked
}

const latestSale = (events: ActiveEvent[]): ActiveEvent | undefined =>
  events.reduce<ActiveEvent | undefined>(
    (latest, event) =>
      latest === undefined || (event.lastSaleAt ?? -1) > (latest.lastSaleAt ?? -1) ? event : latest,
    undefined,
  )
