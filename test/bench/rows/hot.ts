import { ask } from '@tally/testkit/processes/http'
import { evenShape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { startCeiling } from '../run/ceiling.ts'
import { alternate, measured, type Sample } from '../run/rounds.ts'
import { type Line, type Row, ratioAtLeast, ratioAtMost } from '../run/row.ts'
import { putOneQuestion } from '../run/wrk.ts'
import { type RunningTally, withTally } from '../tally/tally.ts'
import { sameAnswer } from './sameAnswer.ts'

/** Item counts of a day, polled over 64 connections: key, rate limit, and the newest figures each time. */
export const hot: Row = {
  name: 'hot',
  about: 'item counts over 64 connections, against bare fastify with one Redis GET of the same bytes',
  needsWrk: true,
  async run(bench) {
    const { orders, seed } = bench.options
    const data = await bench.data('usual', () => evenShape(seed, orders))
    return withTally(bench, data, async tally => {
      await tally.untilAnswered()
      await tally.check()
      const [eventId = ''] = data.count.eventIds()
      const [, expected] = data.count.lastAnswers(eventId)
      const path = `/api/v1/events/${eventId}${expected?.path}`
      const asked = { path, token: tally.tokenOf(eventId), data: expected?.data }
      return { lines: linesOf(await besideCeiling(bench, tally, asked)) }
    })
  },
}

type Question = { path: string; token: string; data: unknown }
type Contender = 'tally' | 'redis'
type Compared = { samples: Record<Contender, Sample[]>; bytes: number }

/** Puts the same load on Tally and on the ceiling, once each of them has answered as it should. */
async function besideCeiling(
  bench: Bench,
  tally: RunningTally,
  { path, token, data }: Question,
): Promise<Compared> {
  const { text } = await ask(tally.query.address, path, { token })
  await bench.redis.set(`ceiling:${path}`, text)
  const redis = startCeiling(bench, 'fastifyRedis', {
    REDIS_URL: bench.servers.redisUrl,
    REDIS_KEYS: 'ceiling:',
  })
  try {
    const urls = {
      tally: tally.query.address + path,
      redis: (await redis.message('listening')).address + path,
    }
    for (const url of Object.values(urls)) await sameAnswer(url, token, data)
    const load = (name: Contender) => () => putOneQuestion(bench, { url: urls[name], token })
    const samples = await alternate(bench, 'hot', { tally: load('tally'), redis: load('redis') })
    return { samples, bytes: Buffer.byteLength(text) }
  } finally {
    await redis.stop()
  }
}

function linesOf({ samples, bytes }: Compared): Line[] {
  const names = {
    tally: `item counts, ${bytes.toLocaleString('en')} bytes`,
    redis: 'fastify, one Redis GET',
  }
  const figure = (name: Contender, what: 'rate' | 'p99') =>
    measured(samples[name], what, names[name], what === 'rate' ? 'requests/s' : 'ms')
  const line = (what: 'rate' | 'p99') => ({
    row: what === 'rate' ? 'hot' : 'hot p99',
    ours: figure('tally', what),
    against: figure('redis', what),
  })
  return [
    { ...line('rate'), goal: ratioAtLeast(1) },
    { ...line('p99'), goal: ratioAtMost(1.5) },
  ]
}
