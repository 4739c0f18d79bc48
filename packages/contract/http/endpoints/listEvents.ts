import { z } from 'zod'
import { endpoint } from '../endpoint.ts'
import { envelope, listMeta } from '../envelope.ts'
import { evening } from '../evening.ts'
import { noParameters } from '../parameters.ts'
import { eventAnswer, getEvent } from './getEvent.ts'

export const listEvents = endpoint({
  url: '/api/v1/events',
  scope: 'events:read',
  summary: "All events of the key's organization",
  params: noParameters,
  query: noParameters,
  answer: envelope('EventListEnvelope', z.array(eventAnswer), listMeta),
  example: { data: [getEvent.example.data], meta: evening.ofList },
})
