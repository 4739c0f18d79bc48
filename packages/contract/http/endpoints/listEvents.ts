import { z } from 'zod'
import { endpoint, envelope, evening, listMeta, noParameters } from '../endpoint.ts'
import { eventAnswer, getEvent } from './getEvent.ts'

export const listEvents = endpoint({
  url: '/api/v1/events',
  scope: 'events:read',
  summary: "All events of the key's organization",
  rules:
    'Sorted by `startDate` descending, then `id` ascending. With a key bound to one event, only that one.',
  params: noParameters,
  query: noParameters,
  answer: envelope('EventListEnvelope', z.array(eventAnswer), listMeta),
  example: { data: [getEvent.example.data], meta: evening.ofList },
})
