import { isDeepStrictEqual } from 'node:util'
import { ask, type Reply } from '@tally/testkit/processes/http'
import type { Load } from '../run/wrk.ts'
import type { Polled, PolledTally } from './polled.ts'

/** What all answers of a load must be: whole ones as first seen, or a 304 each. */
export type Expected = 'whole' | 'unchanged'

const spotChecks = 200
/** Of the bytes of an answer: a time without milliseconds is shorter, a rate limit's remainder gets shorter. */
const sizeTolerance = 0.02

/** Asks some of the questions, evenly spread; throws on an answer that is not as expected. Returns the last one. */
export async function checkPolled(
  { questions }: PolledTally,
  address: string,
  expected: Expected,
): Promise<Reply> {
  const step = Math.max(1, Math.floor(questions.length / spotChecks))
  let last: Reply | undefined
  // An odd step reaches all four questions of an event in turn.
  for (let at = 0; at < questions.length; at += step | 1) {
    const question = questions[at] as Polled
    last = await askOne(address, question, expected)
    if (!isRight(last, question, expected))
      throw new Error(`a wrong answer, so there is no figure: ${question.path}: ${last.status} ${last.text}`)
  }
  return last as Reply
}

function askOne(address: string, { path, token, etag }: Polled, expected: Expected): Promise<Reply> {
  const headers: Record<string, string> = expected === 'unchanged' ? { 'If-None-Match': etag } : {}
  return ask(address, path, { token, headers })
}

function isRight({ status, body, text }: Reply, question: Polled, expected: Expected): boolean {
  if (expected === 'unchanged') return status === 304 && text === ''
  return status === 200 && isDeepStrictEqual(body?.data, JSON.parse(question.text).data)
}

/**
 * Compares the bytes that a load received with those of the answers to the questions that it sent: wrk counts a 304
 * like a 200, and looks at no body. `reply` is one of the answers, for the size of the head.
 */
export function checkSizes(
  { questions, order }: PolledTally,
  { load, reply, expected }: { load: Load; reply: Reply; expected: Expected },
): void {
  let bodies = 0
  if (expected === 'whole') {
    const sizes = questions.map(({ text }) => Buffer.byteLength(text))
    for (let at = 0; at < load.requests; at++) bodies += sizes[order[at % order.length] as number] as number
  }
  const due = headBytes(reply) + bodies / load.requests
  if (Math.abs(load.bytes / due - 1) > sizeTolerance)
    throw new Error(`answers of ${load.bytes.toFixed(0)} bytes on average instead of ${due.toFixed(0)}`)
}

function headBytes({ status, headers }: Reply): number {
  const line = status === 304 ? 'HTTP/1.1 304 Not Modified' : 'HTTP/1.1 200 OK'
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
  return [line, ...fields, ''].join('\r\n').length + 2
}
