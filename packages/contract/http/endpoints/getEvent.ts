import { z } from 'zod'
import { date } from '../../values/time.ts'
import { endpoint, envelope, evening, eventMeta, eventPath, noParameters, utc } from '../endpoint.ts'

export const eventAnswer = z
  .object({
    id: z.guid(),
    name: z.string(),
    startDate: utc,
    isOpen: z.boolean().describe('True exactly when currentDay is not null'),
    currentDay: z
      .object({ id: z.int(), date, openedAt: utc })
      .meta({ id: 'CurrentDay' })
      .nullable()
      .describe('The day that is open now'),
  })
  .meta({ id: 'Event' })
export type EventAnswer = z.infer<typeof eventAnswer>

export const getEvent = endpoint({
  url: '/api/v1/events/:eventId',
  scope: 'events:read',
  summary: 'One event with its open day',
  rules: '`currentDay` is the open day; `isOpen` is true exactly when there is one.',
  params: eventPath,
  query: noParameters,
  answer: envelope('EventEnvelope', eventAnswer, eventMeta),
  example: {
    data: {
      id: evening.eventId,
      name: 'Sagra del Pesce',
      startDate: '2026-09-04T16:00:00Z',
      isOpen: true,
      currentDay: { id: 42, date: '2026-09-05', openedAt: '2026-09-05T16:00:00Z' },
    },
    meta: evening.ofEvent,
  },
})
