import type { KafkaRecord } from '@tally/kafka'
import { runScenario } from '@tally/testkit/oracle/scenario'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { headerOf, readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { beforeAll, describe, expect, test } from 'vitest'
import { badRecords } from './badRecords.ts'

const tally = useTally()
const festival = newFestival()
const cases = badRecords(festival).map((bad, index) => ({ ...bad, number: String(index) }))
const sent = { 'till-no': Buffer.from([0xff, 0x00, 0x7f]), twice: ['a', 'b'], 'tally.reason': 'from before' }
let deadLetters: KafkaRecord[]

beforeAll(async () => {
  const around = (record: (typeof cases)[number]) => [
    { ...record.record, headers: { ...sent, number: record.number } },
    festival.order({ totalAmount: 1 }),
  ]
  const { data } = await runScenario(tally, festival, [festival.event()])
  await tally.count(cases.flatMap(around))
  expect(await data('/analytics/kpis')).toMatchObject({ totalOrders: cases.length, totalSales: cases.length })
  expect((await data('')).name).toBe('Sagra del Pesce')
  deadLetters = await readDeadLetters(tally)
})

test('each bad record is one dead letter, and no good one is', () => {
  expect(cases.length).toBeGreaterThan(40)
  const numbers = deadLetters.map(deadLetter => headerOf(deadLetter, 'number'))
  expect(numbers.toSorted((a, b) => Number(a) - Number(b))).toEqual(cases.map(({ number }) => number))
  const places = deadLetters.map(deadLetter =>
    ['topic', 'partition', 'offset'].map(name => headerOf(deadLetter, `__connect.errors.${name}`)).join(),
  )
  expect(new Set(places).size).toBe(deadLetters.length)
})

describe('goes to the dead letters', () => {
  test.for(cases)('$reason: $rule', ({ number, reason, field, record }) => {
    const deadLetter = deadLetters.find(other => headerOf(other, 'number') === number) as KafkaRecord
    expect(headerOf(deadLetter, 'tally.reason')).toBe(reason)
    const { value, key = String(record.value?.eventId).toLowerCase() } = record
    const bytes = value === null ? null : Buffer.isBuffer(value) ? value : Buffer.from(JSON.stringify(value))
    expect({ key: deadLetter.key, value: deadLetter.value }).toEqual({
      key: key === null ? null : Buffer.from(key),
      value: bytes,
    })
    expect(headerOf(deadLetter, '__connect.errors.topic')).toBe(
      `${tally.settings.TOPIC_PREFIX}.${record.type}`,
    )
    expect(headerOf(deadLetter, '__connect.errors.partition')).toMatch(/^\d$/)
    expect(headerOf(deadLetter, '__connect.errors.offset')).toMatch(/^\d+$/)
    expect(headerOf(deadLetter, '__connect.errors.exception.message')).toContain(field ?? '')
    expect(headerOf(deadLetter, '__connect.errors.exception.message')).not.toBe('')
  })
})

test('headers that came with a record stay as they are, those under our own names too', () => {
  for (const { headers } of deadLetters) {
    expect(headers['till-no']).toEqual(sent['till-no'])
    expect([headers.twice].flat().map(String)).toEqual(sent.twice)
    expect([headers['tally.reason']].flat().map(String)[0]).toBe('from before')
  }
})
