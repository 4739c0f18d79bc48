import { EventEmitter } from 'node:events'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import type { EventId } from '@tally/contract'
import { createLogger } from '@tally/platform'
import { until } from '@tally/testkit/until'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import type { AdminDeps } from '../deps.ts'
import { overEvent } from './serverSentEvent.ts'
import { openStreams, type Showing, type Streams } from './stream.ts'

const showing = { eventId: 'an event' as EventId, dayId: undefined }
/** How a stream takes its places, keeps them, and gives them back. */
const done: string[] = []
const note = (what: string) => async () => done.push(what) && 1
const streams = () =>
  openStreams({
    live: { watch: () => note('unwatch') },
    metrics: { screens: { set: () => {} } },
    logger: createLogger('test', 'silent'),
    redis: { takeScreen: note('take'), zrem: note('leave') },
    keys: { screens: (owner: string) => owner },
    screenCheckMs: 1,
  } as unknown as AdminDeps)

/** What a browser is sent until the stream ends. */
async function sent(to: Streams, shows: () => Promise<Showing | undefined>, shown: Showing = showing) {
  const raw = Object.assign(new EventEmitter(), { socket: new EventEmitter() })
  const reply = { type: () => reply, header: () => reply, send: (stream: unknown) => stream }
  const stream = await to.open(
    { raw } as unknown as FastifyRequest,
    reply as unknown as FastifyReply,
    shown,
    { shows } as never,
  )
  return text(stream as never)
}

test('a screen ends with its session, also of an event without days, and keeps no day or place', async () => {
  for (const dayId of [undefined, 41])
    expect(await sent(streams(), async () => undefined, { ...showing, dayId })).toContain(overEvent)
  await until('both have ended', () => done.filter(what => what === 'leave').length === 4)
  // Many checks of a stream that went on.
  await sleep(20)
  expect(done.slice(-7)).toEqual(['take', 'take', 'take', 'take', 'unwatch', 'leave', 'leave'])
})

test('a stream that is opened while the server closes ends', async () => {
  const closed = streams()
  closed.close()
  expect(await sent(closed, async () => showing)).toBe('retry: 1000\n\n')
})
