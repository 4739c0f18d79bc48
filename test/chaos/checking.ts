import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { readTopic, topicNames } from '@tally/kafka'
import { ask } from '../support/http.ts'
import type { Feeding } from './feeding.ts'
import { badHeader } from './load.ts'
import type { Random } from './random.ts'
import { prefix, type System } from './system.ts'
import type { Wrongs } from './wrong.ts'

const atOnce = 8

export type Checking = {
  system: System
  feeding: Feeding
  wrongs: Wrongs
  random: Random
  tokenOf: (eventId: string) => string
}

/**
 * Waits until every event says of itself, in each query process, that everything up to a moment is counted (`asOf`).
 * Returns how long that took in milliseconds, or undefined when it did not come.
 */
export async function untilFresh(
  { system, tokenOf }: Checking,
  { eventIds, sinceMs, withinMs }: { eventIds: () => string[]; sinceMs: number; withinMs: number },
): Promise<number | undefined> {
  const began = Date.now()
  const isFresh = async (eventId: string, address: string): Promise<boolean> => {
    const late = pause(5_000, undefined, { ref: false })
    const reply = await Promise.race([
      ask(address, `/api/v1/events/${eventId}/analytics/kpis`, { token: tokenOf(eventId) }),
      late,
    ]).catch(() => undefined)
    return reply?.status === 200 && Date.parse(reply.body.meta.asOf ?? 0) >= sinceMs
  }
  while (Date.now() < began + withinMs) {
    const asked = system.queries.flatMap(({ address }) =>
      eventIds().map(eventId => isFresh(eventId, address)),
    )
    if ((await Promise.all(asked)).every(Boolean)) return Date.now() - began
    await pause(50)
  }
  return undefined
}

/** Compares every answer about these events with the brute-force count; returns how many were compared. */
export async function checkAnswers(checking: Checking, eventIds: string[]): Promise<number> {
  const { system, feeding, wrongs, random, tokenOf } = checking
  const questions = eventIds.flatMap(eventId =>
    feeding.book.answers(eventId).map(expected => ({ eventId, ...expected })),
  )
  const left = questions[Symbol.iterator]()
  const worker = async () => {
    for (const { eventId, path, data, meta = {} } of left) {
      const query = random.of(system.queries)
      const { status, body, text } = await ask(query.address, `/api/v1/events/${eventId}${path}`, {
        token: tokenOf(eventId),
      })
      const said = { status, data: body?.data, meta: pick(body?.meta, Object.keys(meta)) }
      const told = { status: 200, data, meta }
      if (isDeepStrictEqual(said, told)) continue
      const diff = status === 200 ? firstDifference(told, said) : text.slice(0, 200)
      wrongs.add('every answer equals the count', `${path} of ${eventId} at ${query.name}: ${diff}`)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, worker))
  return questions.length
}

function pick(from: Record<string, unknown> | undefined, names: string[]): Record<string, unknown> {
  return Object.fromEntries(names.map(name => [name, from?.[name]]))
}

function firstDifference(told: unknown, said: unknown, path = ''): string {
  if (typeof told !== 'object' || told === null || typeof said !== 'object' || said === null)
    return `${path} must be ${JSON.stringify(told)}, is ${JSON.stringify(said)}`
  const names = new Set([...Object.keys(told), ...Object.keys(said)])
  for (const name of names) {
    const [one, other] = [(told as never)[name], (said as never)[name]]
    if (!isDeepStrictEqual(one, other)) return firstDifference(one, other, `${path}/${name}`)
  }
  return `${path} differs`
}

/** Every bad record that Kafka has is a dead letter, and nothing else is. */
export async function checkDeadLetters({ system, feeding, wrongs }: Checking): Promise<void> {
  const letters = new Map<string, Set<string>>()
  for await (const { records } of readTopic(system.kafka, topicNames(prefix).deadLetters)) {
    for (const { headers } of records) {
      const number = String(headers[badHeader])
      const offset = ['topic', 'partition', 'offset']
        .map(name => String(headers[`__connect.errors.${name}`]))
        .join(' ')
      letters.set(number, (letters.get(number) ?? new Set()).add(offset))
    }
  }
  const missing = [...feeding.bad].filter(number => !letters.has(number))
  const foreign = [...letters.keys()].filter(number => !feeding.bad.has(number))
  if (missing.length > 0)
    wrongs.add('every bad record is a dead letter', `missing: ${missing.slice(0, 20)} (${missing.length})`)
  if (foreign.length > 0)
    wrongs.add('only a bad record is a dead letter', `foreign: ${foreign.slice(0, 20)} (${foreign.length})`)
}

/**
 * Reads all topics again: the dead letters' offsets are exactly those of the bad records, also of those that a Kafka
 * which was killed before it acknowledged has twice. Returns their number.
 */
export async function checkDeadLetterOffsets({ system, wrongs }: Checking): Promise<number> {
  const { deadLetters, ...sources } = topicNames(prefix)
  const bad = new Set<string>()
  for (const topic of Object.values(sources)) {
    for await (const { partition, records } of readTopic(system.kafka, topic)) {
      for (const { headers, offset } of records) {
        if (headers[badHeader] !== undefined) bad.add(`${topic} ${partition} ${offset}`)
      }
    }
  }
  const told = new Set<string>()
  for await (const { records } of readTopic(system.kafka, deadLetters)) {
    for (const { headers } of records)
      told.add(
        ['topic', 'partition', 'offset'].map(name => String(headers[`__connect.errors.${name}`])).join(' '),
      )
  }
  const missing = [...bad].filter(offset => !told.has(offset))
  const more = [...told].filter(offset => !bad.has(offset))
  if (missing.length + more.length > 0)
    wrongs.add("dead letters' offsets are those of the bad records", { missing, more })
  return bad.size
}
