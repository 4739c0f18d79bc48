import { expect, test, vi } from 'vitest'
import { createLogger } from '../log/logger.ts'
import { createOutages, watchParts } from './outages.ts'

const refused = () => Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' })
const password = () => Object.assign(new Error('password authentication failed'), { code: '28P01' })
const silence = () => new DOMException('no answer in 2 s', 'TimeoutError')

function open() {
  let nowMs = 5_000
  const lines: string[] = []
  const logger = createLogger('test', 'silent')
  vi.spyOn(logger, 'warn').mockImplementation((...of: unknown[]) => void lines.push(`warn: ${of[1]}`))
  vi.spyOn(logger, 'info').mockImplementation((...of: unknown[]) => void lines.push(`info: ${of[1]}`))
  const outages = createOutages(logger, { Redis: 'Postgres answers' }, () => nowMs)
  const pass = (seconds: number) => {
    nowMs += seconds * 1_000
  }
  return { outages, lines, pass }
}

test('an outage is one line when it begins, one a minute, and one when it ends', () => {
  const { outages, lines, pass } = open()
  for (let second = 0; second < 130; second++, pass(1)) outages.failed('Redis', refused())
  outages.answered('Redis')
  outages.answered('Redis')
  expect(lines).toEqual([
    'warn: Redis does not answer (connect ECONNREFUSED 127.0.0.1:1). Postgres answers',
    'warn: Redis has not answered for 60 s (connect ECONNREFUSED 127.0.0.1:1). Postgres answers',
    'warn: Redis has not answered for 120 s (connect ECONNREFUSED 127.0.0.1:1). Postgres answers',
    'info: Redis answers again, after 130 s',
  ])
})

test('a reason that tells more is logged at once, each only once in an outage', () => {
  const { outages, lines, pass } = open()
  for (const error of [silence(), silence(), refused(), silence(), password(), refused(), password()]) {
    outages.failed('Postgres', error)
    pass(1)
  }
  expect(lines).toEqual([
    'warn: Postgres does not answer (no answer in 2 s)',
    'warn: Postgres has not answered for 2 s (connect ECONNREFUSED 127.0.0.1:1)',
    'warn: Postgres has not answered for 4 s (password authentication failed)',
  ])
})

test('what works while one part is gone is not said while another is gone too', () => {
  const { outages, lines, pass } = open()
  outages.failed('Postgres', refused())
  outages.failed('Redis', refused())
  outages.answered('Postgres')
  pass(60)
  outages.failed('Redis', refused())
  expect(lines.filter(line => line.startsWith('warn: Redis'))).toEqual([
    'warn: Redis does not answer (connect ECONNREFUSED 127.0.0.1:1). Nor does Postgres',
    'warn: Redis has not answered for 60 s (connect ECONNREFUSED 127.0.0.1:1). Postgres answers',
  ])
})

test('no line says that something has lasted 0 s', () => {
  const { outages, lines } = open()
  for (const error of [silence(), refused()]) outages.failed('Postgres', error)
  outages.answered('Postgres')
  expect(lines).toEqual([
    'warn: Postgres does not answer (no answer in 2 s)',
    'warn: Postgres does not answer (connect ECONNREFUSED 127.0.0.1:1)',
    'info: Postgres answers again, after less than 1 s',
  ])
})

test('what is missing is named with its last reason', () => {
  const { outages } = open()
  expect(outages.missing()).toBeUndefined()
  outages.failed('Redis', refused())
  outages.failed('Kafka', silence())
  outages.failed('Kafka', new Error('Closed connection'))
  expect(outages.missing()).toBe(
    'waiting for Redis (connect ECONNREFUSED 127.0.0.1:1) and Kafka (Closed connection)',
  )
  outages.answered('Redis')
  expect(outages.missing()).toBe('waiting for Kafka (Closed connection)')
})

test('a part that fails once has not gone, one that fails twice or keeps silent has', async () => {
  const { outages, lines } = open()
  const answers = [refused(), undefined, refused(), refused(), undefined]
  const asked = Promise.withResolvers<void>()
  const probe = async () => {
    const error = answers.shift()
    if (answers.length === 0) asked.resolve()
    if (error !== undefined) throw error
  }
  const silent = Promise.withResolvers<void>()
  const stop = watchParts(
    outages,
    { Redis: probe, Kafka: () => silent.promise },
    { everyMs: 1, answerTimeoutMs: 5 },
  )
  await asked.promise
  await vi.waitFor(() => expect(lines.filter(line => line.includes('Redis'))).toHaveLength(2))
  await vi.waitFor(() => expect(outages.missing()).toBe('waiting for Kafka (no answer in 0.005 s)'))
  silent.resolve()
  await vi.waitFor(() => expect(outages.missing()).toBeUndefined())
  stop()
})
