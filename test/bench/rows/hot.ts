import { sql } from 'kysely'
import { ask } from '../../support/http.ts'
import { startCeiling } from '../ceiling.ts'
import { fillFromTally, plainTables } from '../ceilings/plainTables.ts'
import { evenShape } from '../data/shape.ts'
import { connections, putLoad } from '../load.ts'
import type { Line, Row } from '../row.ts'
import { alternate, measured } from '../rounds.ts'
import { startTally } from '../tally.ts'
import { sameAnswer } from './sameAnswer.ts'

/** Item counts of a day, polled over 64 connections: key, rate limit, and the newest figures each time. */
export const hot: Row = {
  name: 'hot',
  about: 'item counts over 64 connections, against bare fastify with one Redis GET of the same bytes',
  async run(bench) {
    const { orders, seed, seconds } = bench.options
    const data = await bench.data('usual', () => evenShape(seed, orders))
    const tally = await startTally(bench, data)
    try {
      await tally.untilAnswered()
      await tally.check()
      const [eventId = ''] = data.count.eventIds()
      const [, expected] = data.count.lastAnswers(eventId)
      const path = `/api/v1/events/${eventId}${expected?.path}`
      const token = tally.tokenOf(eventId)

      const { text } = await ask(tally.query.address, path, { token })
      await bench.redis.set('ceiling', text)
      await sql.raw(plainTables + fillFromTally).execute(tally.db)
      const redis = startCeiling(bench, 'fastifyRedis', {
        REDIS_URL: bench.servers.redisUrl,
        REDIS_KEY: 'ceiling',
      })
      const plain = startCeiling(bench, 'plainSql', { DATABASE_URL: tally.databaseUrl })
      try {
        const addresses = {
          tally: tally.query.address,
          redis: (await redis.told('listening')).address,
          plain: (await plain.told('listening')).address,
        }
        for (const address of Object.values(addresses))
          await sameAnswer(address + path, token, expected?.data)
        const load = (name: keyof typeof addresses) => () =>
          putLoad({ url: addresses[name] + path, token, connections, seconds })
        const samples = await alternate(bench, 'hot', {
          tally: load('tally'),
          redis: load('redis'),
          plain: load('plain'),
        })
        const bytes = Buffer.byteLength(text).toLocaleString('en')
        const names = {
          tally: `item counts, ${bytes} bytes`,
          redis: 'fastify, one Redis GET',
          plain: 'plain SQL over order lines',
        }
        const figure = (name: keyof typeof names, what: 'rate' | 'p99') =>
          measured(samples[name], what, names[name], what === 'rate' ? 'requests/s' : 'ms')
        const line = (what: 'rate' | 'p99', against: 'redis' | 'plain'): Line => ({
          row: what === 'rate' ? 'hot' : 'hot p99',
          ours: figure('tally', what),
          against: figure(against, what),
        })
        return {
          lines: [
            { ...line('rate', 'redis'), goal: { of: 'ratio', bound: 'at least', value: 1 } },
            { ...line('p99', 'redis'), goal: { of: 'ratio', bound: 'at most', value: 1.5 } },
            line('rate', 'plain'),
            line('p99', 'plain'),
          ],
        }
      } finally {
        await Promise.all([redis.stop(), plain.stop()])
      }
    } finally {
      await tally.stop()
    }
  },
}
