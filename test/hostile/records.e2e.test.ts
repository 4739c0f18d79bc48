import { decodeRecord } from '@tally/contract'
import { type TestRecord, useTally } from '@tally/testkit/processes/tally'
import { type Festival, newFestival } from '@tally/testkit/records/festival'
import { headerOf, readDeadLetters } from '@tally/testkit/servers/deadLetters'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { anyRecord, largeRecords } from './records.ts'

const tally = useTally()
const seed = Number(process.env.TALLY_SEED ?? Date.now() % 2 ** 31)

/** Whether the contract takes it as it came: which count is asked of the service, which are good of the contract. */
function isGood({ type, key, value }: TestRecord): boolean {
  const bytes = typeof key === 'string' ? Buffer.from(key) : (key ?? null)
  return decodeRecord(type, bytes, value).outcome === 'decoded'
}

/** Numbers the records by a header, sends them, and returns the numbers of those that came back as dead letters. */
async function numbersOfDeadLetters(records: TestRecord[], run: string): Promise<number[]> {
  await tally.count(
    records.map((record, index) => ({
      ...record,
      headers: { ...record.headers, run, number: String(index) },
    })),
  )
  const deadLetters = (await readDeadLetters(tally)).filter(deadLetter => headerOf(deadLetter, 'run') === run)
  const places = deadLetters.map(deadLetter =>
    ['topic', 'partition', 'offset'].map(name => headerOf(deadLetter, `__connect.errors.${name}`)).join(),
  )
  expect(new Set(places).size).toBe(deadLetters.length)
  return deadLetters.map(deadLetter => Number(headerOf(deadLetter, 'number'))).toSorted((a, b) => a - b)
}

async function expectAnotherCounts(): Promise<void> {
  const next = newFestival()
  await tally.count([next.organization(), next.event(), next.order()])
  const token = await tally.key(next.organizationId)
  const { body } = await tally.get(`${next.path}/analytics/kpis`, { token })
  expect(body.data.totalOrders).toBe(1)
}

const statuses = ['PreOrder', 'Pending', 'Paid', 'Preparing', 'ReadyForPickup', 'Completed', 'Cancelled']

/** The order ids that the event answers with, whatever their status. */
async function orderIdsOf(festival: Festival): Promise<Set<string>> {
  const token = await tally.key(festival.organizationId)
  const ids = new Set<string>()
  for (const status of statuses) {
    for (let page = 1; ; page++) {
      const query = `?pageSize=100&page=${page}&status=${status}`
      const { body } = await tally.get(`${festival.path}/orders${query}`, { token })
      for (const { id } of body.data) ids.add(id)
      if (page >= body.meta.pagination.totalPages) break
    }
  }
  return ids
}

test('whatever comes: each bad record is one dead letter, each good one counts, none stops a partition', async () => {
  const festival = newFestival()
  await tally.count([festival.organization(), festival.event()])
  const records = fc.sample(anyRecord(festival), { seed, numRuns: 1_500 })
  const bad = records.flatMap((record, index) => (isGood(record) ? [] : [index]))
  const goodOrders = records.filter(record => record.type === 'orders' && isGood(record))
  expect(bad.length).toBeGreaterThan(500)
  expect(goodOrders.length).toBeGreaterThan(10)

  const dead = await numbersOfDeadLetters(records, `seed ${seed}`)
  // One may be good in itself, yet move the event to an organization that a turned bit made.
  const conflicts = records.flatMap((record, index) =>
    isGood(record) && record.type === 'events' && organizationOf(record) !== festival.organizationId
      ? [index]
      : [],
  )
  expect(dead).toEqual([...bad, ...conflicts].toSorted((a, b) => a - b))

  const sent = new Set(goodOrders.map(({ value }) => JSON.parse(value.toString()).orderId as string))
  expect(await orderIdsOf(festival)).toEqual(sent)
  await expectAnotherCounts()
})

const organizationOf = ({ value }: TestRecord): string =>
  JSON.parse(String(value)).organizationId.toLowerCase()

test('records of a MiB stop nothing', async () => {
  const festival = newFestival()
  await tally.count([festival.organization(), festival.event()])
  const records = largeRecords(festival)
  const bad = records.flatMap((record, index) => (isGood(record) ? [] : [index]))

  expect(await numbersOfDeadLetters(records, 'large')).toEqual(bad)
  await expectAnotherCounts()
})
