import { isDeepStrictEqual } from 'node:util'
import { ask } from '@tally/testkit/processes/http'
import { randomFrom } from '../../chaos/load/random.ts'
import type { Preloaded } from '../data/preload.ts'
import { zipfOf } from '../data/zipf.ts'
import type { Bench } from '../run/bench.ts'
import { type Ceiling, startCeiling } from '../run/ceiling.ts'
import type { Question } from '../run/wrk.ts'
import { openShared } from './shared.ts'
import { type RunningTally, startTally } from './tally.ts'

/** A question that devices poll, with the answer that it had at first. */
export type Polled = Required<Question> & { eventId: string; text: string }

/** Tally over the events of many organizations, with what their devices poll, and the ceiling with the same answers. */
export type PolledTally = {
  tally: RunningTally
  data: Preloaded
  /** Four for each event, in the order of the events. */
  questions: Polled[]
  /** Indexes of questions in the order in which devices ask. */
  order: Uint32Array
  /** Where bare fastify answers the same requests, each with one GET of its own key. */
  ceilingAddress: string
}

const usual = { organizations: 1_000, eventsOfAnOrganization: 5, ordersOfAnEvent: 30 }
const questionsOfAnEvent = 4
/** More than a load sends in 5 s, so that it does not repeat. */
const drawn = 500_000
const atOnce = 16
const ceilingKeys = 'ceiling:'

/** 1,000 organizations of 5 events, 30 orders each, with the usual --orders; the events have one day. */
export const polled = openShared(start)

async function start(bench: Bench, onRelease: (release: () => Promise<void>) => void): Promise<PolledTally> {
  const { orders, seed } = bench.options
  const { eventsOfAnOrganization, ordersOfAnEvent } = usual
  const organizations = Math.max(2, Math.ceil((usual.organizations * orders) / 200_000))
  const ordersByEvent = Array.from({ length: organizations * eventsOfAnOrganization }, () => ordersOfAnEvent)
  const shape = { seed: seed + 4, ordersByEvent, eventsOfAnOrganization, days: 1 }
  const data = await bench.data('polled', () => shape)
  const tally = await startTally(bench, data)
  let ceiling: Ceiling | undefined
  onRelease(async () => {
    bench.forget('polled')
    await ceiling?.stop()
    await tally.stop()
  })
  await tally.untilAnswered()
  const questions = await inParallel(questionsOf(tally, data), ask => ask())
  bench.log(`data polled: ${questions.length} answers checked`)
  await inParallel(questions, ({ path, text }) => bench.redis.set(ceilingKeys + path, text))
  ceiling = startCeiling(bench, 'fastifyRedis', {
    REDIS_URL: bench.servers.redisUrl,
    REDIS_KEYS: ceilingKeys,
  })
  const { address } = await ceiling.message('listening')
  return { tally, data, questions, order: drawOrder(seed, organizations), ceilingAddress: address }
}

/** Asks each question once and compares with the count. */
function questionsOf(tally: RunningTally, { count }: Preloaded): (() => Promise<Polled>)[] {
  return count.eventIds().flatMap(eventId =>
    count.polledAnswers(eventId).map(({ path: below, data }) => async () => {
      const path = new URL(tally.addressOf(eventId)).pathname + below
      const token = tally.tokenOf(eventId)
      const { status, body, text, headers } = await ask(tally.query.address, path, { token })
      if (status !== 200 || !isDeepStrictEqual(body.data, data))
        throw new Error(`a wrong answer, so there is no figure: ${path}: ${status} ${text.slice(0, 300)}`)
      return { eventId, path, token, text, etag: headers.etag ?? '' }
    }),
  )
}

/** An organization's key by Zipf's law, one of its events by Zipf's law, and any of the four questions. */
function drawOrder(seed: number, organizations: number): Uint32Array {
  const random = randomFrom(seed, 'polls')
  const { eventsOfAnOrganization } = usual
  const [drawOrganization, drawEvent] = [zipfOf(organizations), zipfOf(eventsOfAnOrganization)]
  return Uint32Array.from({ length: drawn }, () => {
    const event = drawOrganization(random) * eventsOfAnOrganization + drawEvent(random)
    return event * questionsOfAnEvent + random.whole(0, questionsOfAnEvent - 1)
  })
}

/** The results of all tasks in their order; a few tasks run at once. */
async function inParallel<Task, Done>(tasks: Task[], run: (task: Task) => Promise<Done>): Promise<Done[]> {
  const done: Done[] = []
  const rest = tasks.entries()
  const worker = async () => {
    for (const [index, task] of rest) done[index] = await run(task)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return done
}
