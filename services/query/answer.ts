import { formatTimestamp, type Pagination } from '@tally/contract'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { matchesEtag } from './http/etag.ts'
import type { Composed } from './views/composed.ts'

/** What a read hands to `send`: the data as JSON with its entity tag, and what `meta` says. */
export type Answer = Composed & {
  eventId: string
  /** Absent on the list of events. */
  asOfMs?: number | null
  dayId?: number | null
  pagination?: Pagination
}

/** Sends an answer in the envelope of public-api-v1.md 2.1, or 304 where the client has it already. */
export function send(request: FastifyRequest, reply: FastifyReply, answer: Answer): FastifyReply {
  const { data, etag, eventId, asOfMs, dayId, pagination } = answer
  reply.header('ETag', etag).header('Cache-Control', 'private, no-cache')
  if (asOfMs != null) reply.header('Tally-As-Of', formatTimestamp(asOfMs))

  const ifNoneMatch = request.headers['if-none-match']
  if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, etag)) return reply.code(304).send()

  let meta = `"generatedAt":"${formatTimestamp(Date.now())}","eventId":"${eventId}"`
  if (dayId !== undefined) meta += `,"dayId":${dayId}`
  if (asOfMs !== undefined) meta += `,"asOf":${asOfMs === null ? null : `"${formatTimestamp(asOfMs)}"`}`
  if (pagination !== undefined) meta += `,"pagination":${JSON.stringify(pagination)}`
  return reply
    .header('Content-Type', 'application/json; charset=utf-8')
    .send(`{"data":${data},"meta":{${meta}}}`)
}
