import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { ask } from '../support/http.ts'
import type { Count, Expected } from './data/count.ts'

const atOnce = 8
const lookEveryMs = 20

/** Where to ask for an event's answers, and with which token. */
export type Asked = { addressOf: (eventId: string) => string; tokenOf: (eventId: string) => string }

/**
 * Waits until the last day of every event is answered right and returns the moment (epoch milliseconds). Meanwhile it
 * asks for one event, one question in 20 ms, which costs next to nothing; what is right makes it ask on at once.
 */
export async function untilRight(count: Count, asked: Asked, throwIfGone: () => void): Promise<number> {
  for (const eventId of count.eventIds()) {
    for (const expected of count.lastAnswers(eventId)) {
      while ((await wrongness(asked, eventId, expected)) !== undefined) {
        throwIfGone()
        await pause(lookEveryMs)
      }
    }
  }
  return Date.now()
}

/** Asks every question about every event and compares with the count; throws with the first that is wrong. */
export async function checkAnswers(count: Count, asked: Asked): Promise<void> {
  const questions = questionsOf(count)
  const worker = async () => {
    for (const { eventId, expected } of questions) {
      const wrong = await wrongness(asked, eventId, expected)
      if (wrong !== undefined) throw new Error(`a wrong answer, so there is no figure: ${wrong}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
}

function* questionsOf(count: Count): Generator<{ eventId: string; expected: Expected }> {
  for (const eventId of count.eventIds()) {
    for (const expected of count.answers(eventId)) yield { eventId, expected }
  }
}

/** What is wrong with one answer, or undefined. */
async function wrongness(
  { addressOf, tokenOf }: Asked,
  eventId: string,
  { path, data }: Expected,
): Promise<string | undefined> {
  const { hostname, port, pathname } = new URL(addressOf(eventId))
  const reply = await ask(`http://${hostname}:${port}`, pathname + path, { token: tokenOf(eventId) })
  if (reply.status === 200 && isDeepStrictEqual(reply.body?.data, data)) return undefined
  return `${path} of ${eventId} must be ${JSON.stringify(data).slice(0, 300)}, is ${reply.status} ${reply.text.slice(0, 300)}`
}
