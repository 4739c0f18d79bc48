import { ask } from '@tally/testkit/processes/http'
import { evenShape } from '../data/shape.ts'
import type { Bench } from '../run/bench.ts'
import { startCeiling } from '../run/ceiling.ts'
import type { Row } from '../run/row.ts'
import { putOneQuestion } from '../run/wrk.ts'
import { type RunningTally, withTally } from '../tally/tally.ts'
import { besideCeiling } from './besideCeiling.ts'
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
      return compareHot(bench, tally, asked)
    })
  },
}

type Question = { path: string; token: string; data: unknown }

/** Puts the same load on Tally and on the ceiling, once each of them has answered as it should. */
async function compareHot(bench: Bench, { query }: RunningTally, { path, token, data }: Question) {
  const { text } = await ask(query.address, path, { token })
  await bench.redis.set(`ceiling:${path}`, text)
  const redis = startCeiling(bench, 'fastifyRedis', {
    REDIS_URL: bench.servers.redisUrl,
    REDIS_KEYS: 'ceiling:',
  })
  try {
    const ceiling = (await redis.message('listening')).address + path
    const urls = { tally: query.address + path, ceiling }
    for (const url of Object.values(urls)) await sameAnswer(url, token, data)
    const tally = `item counts, ${Buffer.byteLength(text).toLocaleString('en')} bytes`
    const compared = { row: 'hot', atLeast: 1, p99AtMost: 1.5, connectionCounts: [64], tally }
    return await besideCeiling(bench, compared, (side, connections) =>
      putOneQuestion(bench, { url: urls[side], token, connections }),
    )
  } finally {
    await redis.stop()
  }
}
