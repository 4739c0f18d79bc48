import { EventEmitter } from 'node:events'
import { text } from 'node:stream/consumers'
import type { EventId } from '@tally/contract'
import { createLogger } from '@tally/platform'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import type { AdminDeps } from '../deps.ts'
import { overEvent } from './serverSentEvent.ts'
import { openStreams, type Showing } from './stream.ts'

const showing = { eventId: 'an event' as EventId, dayId: undefined }
const streams = () =>
  openStreams({
    metrics: { screens: { set: () => {} } },
    logger: createLogger('test', 'silent'),
    redis: { takeScreen: async () => 1, zrem: async () => 1 },
    keys: { screens: (owner: string) => owner },
    screenCheckMs: 1,
  } as unknown as AdminDeps)

/** What a browser is sent until the stream ends. */
async function sent(to: ReturnType<typeof streams>, shows: () => Promise<Showing | undefined>) {
  const raw = Object.assign(new EventEmitter(), { socket: new EventEmitter() })
  const reply = { type: () => reply, header: () => reply, send: (stream: unknown) => stream }
  const viewer = { owners: [], shows }
  const stream = await to.open(
    { raw } as unknown as FastifyRequest,
    reply as unknown as FastifyReply,
    showing,
    viewer as never,
  )
  return text(stream as never)
}

test('a screen of an event without days ends with its session', async () => {
  expect(await sent(streams(), async () => undefined)).toContain(overEvent)
})

test('a stream that is opened while the server closes ends', async () => {
  const closed = streams()
  closed.close()
  expect(await sent(closed, async () => showing)).toBe('retry: 1000\n\n')
})
