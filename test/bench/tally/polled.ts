import { isDeepStrictEqual } from 'node:util'
import { ask } from '@tally/testkit/processes/http'
import type { TestRecord } from '@tally/testkit/processes/tally'
import { randomFrom } from '@tally/testkit/random'
import { openLiveOrders } from '../data/live.ts'
import type { Preloaded } from '../data/preload.ts'
import { zipfOf } from '../data/zipf.ts'
import type { Bench } from '../run/bench.ts'
import { type Ceiling, startCeiling } from '../run/ceiling.ts'
import type { Question } from '../run/wrk.ts'
import { openShared } from './shared.ts'
import { type RunningTally, startTally } from './tally.ts'

/** A question that devices poll, and its answer so far. */
export type Polled = Required<Question> & { text: string }

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
  /** New orders of an event, by its number. */
  nextOrder: (event: number) => TestRecord
  /** Waits until all is counted, checks the answers about these events, and gives them to the ceiling as well. */
  learn: (events: number[]) => Promise<void>
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
  const questions: Polled[] = []
  const learn = async (events: number[]) => {
    await tally.untilCounted()
    await inParallel(expectedOf(data, events), async ({ eventId, index, path, data: expected }) => {
      const question = await askFirst(tally, { eventId, path, expected })
      questions[index] = question
      await bench.redis.set(ceilingKeys + question.path, question.text)
    })
  }
  await learn([...ordersByEvent.keys()])
  bench.log(`data polled: ${questions.length} answers checked`)
  ceiling = startCeiling(bench, 'fastifyRedis', {
    REDIS_URL: bench.servers.redisUrl,
    REDIS_KEYS: ceilingKeys,
  })
  const { address } = await ceiling.message('listening')
  return {
    tally,
    data,
    questions,
    order: drawOrder(seed, organizations),
    ceilingAddress: address,
    nextOrder: openLiveOrders(data),
    learn,
  }
}

/** What is asked about some events, with the count's answers. */
function expectedOf({ count }: Preloaded, events: number[]) {
  const eventIds = count.eventIds()
  return events.flatMap(event => {
    const eventId = eventIds[event] as string
    return count
      .polledAnswers(eventId)
      .map((expected, index) => ({ ...expected, eventId, index: event * questionsOfAnEvent + index }))
  })
}

async function askFirst(
  tally: RunningTally,
  { eventId, path: below, expected }: { eventId: string; path: string; expected: unknown },
): Promise<Polled> {
  const path = new URL(tally.addressOf(eventId)).pathname + below
  const token = tally.tokenOf(eventId)
  const { status, body, text, headers } = await ask(tally.query.address, path, { token })
  if (status !== 200 || !isDeepStrictEqual(body.data, expected))
    throw new Error(`a wrong answer, so there is no figure: ${path}: ${status} ${text.slice(0, 300)}`)
  return { path, token, text, etag: headers.etag ?? '' }
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

/** Runs all tasks, a few at once. */
async function inParallel<Task>(tasks: Task[], run: (task: Task) => Promise<void>): Promise<void> {
  const rest = tasks.values()
  const worker = async () => {
    for (const task of rest) await run(task)
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}
