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
  const asOf = asOfMs == null ? null : formatAsOf(asOfMs)
  if (asOf !== null) reply.header('Tally-As-Of', asOf)

  const ifNoneMatch = request.headers['if-none-match']
  if (ifNoneMatch !== undefined && matchesEtag(ifNoneMatch, etag)) return reply.code(304).send()

  let meta = `,"meta":{"generatedAt":"${formatNow(Date.now())}","eventId":"${eventId}"`
  if (dayId !== undefined) meta += `,"dayId":${dayId}`
  if (asOfMs !== undefined) meta += `,"asOf":${asOf === null ? null : `"${asOf}"`}`
  if (pagination !== undefined) meta += `,"pagination":${JSON.stringify(pagination)}`
  return reply
    .header('Content-Type', 'application/json; charset=utf-8')
    .send(Buffer.concat([data, Buffer.from(`${meta}}}`)]))
}

const formatNow = rememberLast(formatTimestamp)
const formatAsOf = rememberLast(formatTimestamp)

/** Thousands of answers of a second say the same two moments. */
function rememberLast(format: (atMs: number) => string): (atMs: number) => string {
  let last = Number.NaN
  let text = ''
  return atMs => {
    if (atMs !== last) text = format(atMs)
    last = atMs
    return text
  }
}
