import { isDeepStrictEqual } from 'node:util'
import type { EventId } from '@tally/contract'
import { ask } from '@tally/testkit/processes/http'
import { allKeys } from '@tally/testkit/servers/redis'
import type { Count } from '../data/count.ts'
import { percentile } from '../report/figures.ts'
import type { Bench } from '../run/bench.ts'
import type { Sample } from '../run/rounds.ts'
import { putOneQuestion } from '../run/wrk.ts'
import type { RunningTally } from './tally.ts'

const pageSize = 100

/** Median and p99 of item counts over 64 connections, and over one of the order list and of the list of events. */
export async function latencies(bench: Bench, tally: RunningTally, eventId: string): Promise<Sample> {
  const address = tally.addressOf(eventId)
  const token = tally.tokenOf(eventId)
  const { body } = await ask(
    tally.query.address,
    `${new URL(address).pathname}/orders?pageSize=${pageSize}`,
    { token },
  )
  const middle = Math.ceil(body.meta.pagination.totalCount / pageSize / 2)
  const questions = {
    'item counts': { url: `${address}/live/item-counts?dayId=1` },
    'order list, page 1': { url: `${address}/orders?pageSize=${pageSize}`, connections: 1 },
    'order list, middle page': {
      url: `${address}/orders?pageSize=${pageSize}&page=${middle}`,
      connections: 1,
    },
    'list of events': { url: `${tally.query.address}/api/v1/events`, connections: 1 },
  }
  const sample: Sample = {}
  for (const [name, question] of Object.entries(questions)) {
    const { median, p99 } = await putOneQuestion(bench, { ...question, token })
    Object.assign(sample, { [`${name}, median`]: median, [`${name}, p99`]: p99 })
  }
  return sample
}

/** The first answer about each event of a count whose documents are not in Redis, one after the other. */
export async function firstAnswers({ redis }: Bench, tally: RunningTally, count: Count): Promise<Sample> {
  const keys = allKeys(tally.env.REDIS_PREFIX ?? '')
  const tookMs: number[] = []
  for (const eventId of count.eventIds()) {
    if ((await redis.exists(keys.event(eventId as EventId))) > 0)
      throw new Error(`event ${eventId} still has documents in Redis`)
    const [expected] = count.lastAnswers(eventId)
    const { origin, pathname } = new URL(tally.addressOf(eventId))
    const began = performance.now()
    const reply = await ask(origin, pathname + expected?.path, { token: tally.tokenOf(eventId) })
    tookMs.push(performance.now() - began)
    if (reply.status !== 200 || !isDeepStrictEqual(reply.body.data, expected?.data))
      throw new Error(`a wrong answer about ${eventId}: ${reply.status} ${reply.text.slice(0, 300)}`)
  }
  return { 'first answer, median': percentile(tookMs, 0.5), 'first answer, p99': percentile(tookMs, 0.99) }
}
