import { openProducer, topicNames } from '@tally/kafka'
import { tally as command, parsedLines } from '@tally/testkit/processes/command'
import { type TestRecord, useTally } from '@tally/testkit/processes/tally'
import { deadLetterRecord } from '@tally/testkit/records/deadLetterRecord'
import { newFestival } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'

const tally = useTally()
const run = (...args: string[]) => command(['dead-letters', ...args], tally.settings)

async function listed(): Promise<{ id: string; reason: string; key: string | null }[]> {
  return parsedLines((await run('list', '--json')).stdout)
}

test('a dead letter that fails again comes back once, under its new id', async () => {
  const festival = newFestival()
  await tally.count([
    festival.organization(),
    festival.event(),
    { ...festival.order({ totalAmount: '1' }), headers: { 'tally.reason': 'mine' } },
    { type: 'orders', key: null, value: null },
  ])
  const first = await listed()
  expect(first.map(({ reason }) => reason).toSorted()).toEqual(['not-json', 'schema'])

  expect(await run('replay', '--all')).toEqual({ code: 0, stdout: 'replayed 2 dead letters\n', stderr: '' })
  await tally.settle()
  const second = await listed()
  expect(second.map(({ reason }) => reason).toSorted()).toEqual(['not-json', 'schema'])
  for (const { id } of second) expect(first.map(deadLetter => deadLetter.id)).not.toContain(id)
  const { id = '' } = second.find(({ reason }) => reason === 'schema') ?? {}
  const { headers } = JSON.parse((await run('show', id)).stdout)
  expect(headers.filter(({ name }: { name: string }) => name === 'tally.reason')).toEqual([
    { name: 'tally.reason', value: 'mine' },
    { name: 'tally.reason', value: 'schema' },
  ])
  await tally.settle()
  expect(await listed()).toEqual(second)
})

test('a record that is valid by now counts when it is replayed, and is no longer listed', async () => {
  const festival = newFestival()
  await tally.count([festival.organization(), festival.event(), festival.order()])
  const order = festival.order()
  await writeLetterOf(order)
  const orders = topicNames(tally.settings.TOPIC_PREFIX ?? '').orders
  expect(await run('replay', `${orders}-0-777`)).toMatchObject({ code: 0, stderr: '' })
  await tally.settle()
  const token = await tally.key(festival.organizationId)
  const { body } = await tally.get(`${festival.path}/analytics/kpis`, { token })
  expect(body.data).toMatchObject({ totalOrders: 2, totalSales: 55 })
  expect((await listed()).filter(({ key }) => key === festival.eventId)).toEqual([])
})

test('a replay leaves an audit entry at both ends', async () => {
  const { db } = tally.database
  const rows = db.selectFrom('audit_entries').selectAll().where('organization_id', 'is', null)
  const before = (await rows.execute()).length
  await writeLetterOf(newFestival().order())
  const id = `${topicNames(tally.settings.TOPIC_PREFIX ?? '').orders}-0-777`
  await run('replay', id)
  const entries = (await rows.orderBy('audit_id').execute()).slice(before)
  expect(entries).toMatchObject([
    { action: 'replay-begun', detail: id },
    { action: 'letters-replayed', detail: '1 sent, 0 refused' },
  ])
})

/** Writes a dead letter of a good order, as a projector of a stricter version would have done. */
async function writeLetterOf({ value }: TestRecord): Promise<void> {
  const { deadLetters, orders } = topicNames(tally.settings.TOPIC_PREFIX ?? '')
  const deadLetter = deadLetterRecord(orders, {
    offset: 777,
    key: Buffer.from(value.eventId),
    value: Buffer.from(JSON.stringify(value)),
  })
  const producer = await openProducer(tally.kafka)
  await producer.send([
    { topic: deadLetters, key: deadLetter.key, value: deadLetter.value, headers: deadLetter.headers },
  ])
  await producer.close()
}
