import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { ask } from '@tally/testkit/processes/http'
import type { Count, Expected } from '../data/count.ts'

const atOnce = 8
const lookEveryMs = 20

/** Where to ask for an event's answers, and with which token. */
export type Asked = { addressOf: (eventId: string) => string; tokenOf: (eventId: string) => string }

/** What waiting for right answers checks in addition. */
export type Surroundings = {
  /** The moment up to which everything is counted and published (epoch milliseconds). */
  countedUpTo: () => Promise<number>
  throwIfGone: () => void
}

/** Waits until each event's last day is answered right; returns when. Throws if all is counted and one is wrong. */
export async function untilRight(count: Count, asked: Asked, around: Surroundings): Promise<number> {
  for (;;) {
    const questions = questionsOf(count, 'lastAnswers')
    let wrong = await firstWrong(questions, asked)
    if (wrong === undefined) return Date.now()
    // Goes on behind it: of thousands of events, most would be asked again for each that is late.
    while (wrong !== undefined) {
      await untilOneIsRight(wrong.question, asked, around)
      wrong = await firstWrong(questions, asked)
    }
  }
}

async function untilOneIsRight(question: Question, asked: Asked, around: Surroundings): Promise<void> {
  const sinceMs = Date.now()
  let nextLookMs = sinceMs + 1_000
  for (let isCounted = false; ; await sleep(lookEveryMs)) {
    const sentence = await wrongness(asked, question)
    if (sentence === undefined) return
    if (isCounted) throw new Error(`a wrong answer, so there is no figure: ${sentence}`)
    around.throwIfGone()
    if (Date.now() < nextLookMs) continue
    nextLookMs = Date.now() + 1_000
    isCounted = (await around.countedUpTo()) >= sinceMs
  }
}

/** Asks the questions about every event and compares with the count; throws with the first that is wrong. */
export async function checkAnswers(count: Count, asked: Asked): Promise<void> {
  const wrong = await firstWrong(questionsOf(count, 'answers'), asked)
  if (wrong !== undefined) throw new Error(`a wrong answer, so there is no figure: ${wrong.sentence}`)
}

type Question = { eventId: string; expected: Expected }

function* questionsOf(count: Count, which: 'answers' | 'lastAnswers'): Generator<Question> {
  for (const eventId of count.eventIds()) {
    for (const expected of count[which](eventId)) yield { eventId, expected }
  }
}

/** Asks several at once until one is wrong; the generator can be continued after it. */
async function firstWrong(questions: Generator<Question>, asked: Asked) {
  let wrong: { question: Question; sentence: string } | undefined
  const worker = async () => {
    while (wrong === undefined) {
      const { value: question } = questions.next()
      if (question === undefined) return
      const sentence = await wrongness(asked, question)
      if (sentence !== undefined) wrong ??= { question, sentence }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return wrong
}

/** What is wrong with one answer, or undefined. */
async function wrongness(
  { addressOf, tokenOf }: Asked,
  { eventId, expected: { path, data } }: Question,
): Promise<string | undefined> {
  const { hostname, port, pathname } = new URL(addressOf(eventId))
  const reply = await ask(`http://${hostname}:${port}`, pathname + path, { token: tokenOf(eventId) })
  if (reply.status === 200 && isDeepStrictEqual(reply.body?.data, data)) return undefined
  return `${path} of ${eventId} must be ${JSON.stringify(data).slice(0, 300)}, is ${reply.status} ${reply.text.slice(0, 300)}`
}
