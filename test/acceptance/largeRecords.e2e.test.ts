import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inside, topicNames } from '@tally/kafka'
import { tally as command } from '@tally/testkit/processes/command'
import { runTally } from '@tally/testkit/processes/process'
import { type TestRecord, useTally } from '@tally/testkit/processes/tally'
import { type Festival, newFestival, saturday } from '@tally/testkit/records/festival'
import { readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { connectForTest } from '@tally/testkit/servers/kafka'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { largestEvent, largestOrder, type Writing, writings } from './largest.ts'

const tally = useTally({ partitions: 1 })
const mebibyte = 1024 * 1024
/** kafkajs's names of codecs. */
const [none, gzip] = [0, 1]

/** Sends one value in a batch of its own. */
async function send(festival: Festival, type: 'events' | 'orders', value: string | Buffer, codec = none) {
  const topic = topicNames(tally.settings.TOPIC_PREFIX ?? '')[type]
  const { kafka } = inside(connectForTest())
  const producer = kafka.producer({ allowAutoTopicCreation: false })
  await producer.connect()
  try {
    await producer.send({ topic, compression: codec, messages: [{ key: festival.eventId, value }] })
  } finally {
    await producer.disconnect()
  }
}

function largestOf(festival: Festival, { text, toJson }: Writing) {
  const [event, order] = [largestEvent(festival, text), largestOrder(festival, text)]
  return { event, order, eventJson: toJson(event.value), orderJson: toJson(order.value) }
}

/** Whether the API answers an event and its only order, as they were sent. */
async function expectAnswered(festival: Festival, event: TestRecord, order: TestRecord): Promise<void> {
  const token = await tally.key(festival.organizationId)
  const { body } = await tally.get(festival.path, { token })
  expect(body.data.name).toBe(event.value.name)
  const counts = await tally.get(`${festival.path}/live/item-counts?dayId=${saturday}`, { token })
  const sold: { name: string }[] = event.value.menuItems.slice(0, order.value.items.length)
  expect(counts.body.data.map(({ itemName }: { itemName: string }) => itemName)).toEqual(
    sold.map(({ name }) => name),
  )
  const answered = await tally.get(`${festival.path}/orders/${order.value.orderId}`, { token })
  expect(answered.body.data.items).toEqual(order.value.items)
}

test('a bad record that is larger than a topic takes, because it came compressed, is a dead letter and stops nothing', async () => {
  const festival = newFestival()
  await tally.count([festival.organization(), festival.event(), festival.order()])
  const seen = (await readDeadLetters(tally)).length
  const value = 'a'.repeat(8 * mebibyte)
  await send(festival, 'orders', value, gzip)
  await tally.count([festival.order()])

  const token = await tally.key(festival.organizationId)
  const { body } = await tally.get(`${festival.path}/analytics/kpis`, { token })
  expect(body.data.totalOrders).toBe(2)
  const deadLetters = (await readDeadLetters(tally)).slice(seen)
  expect(deadLetters.map(deadLetter => deadLetter.value?.length)).toEqual([value.length])
})

test.each(Object.values(writings))(
  'the largest event and order $how are answered, uncompressed as they come, and `records check` reads them',
  async writing => {
    const festival = newFestival()
    const { event, order, eventJson, orderJson } = largestOf(festival, writing)
    for (const json of [eventJson, orderJson]) expect(Buffer.byteLength(json)).toBeGreaterThan(mebibyte)
    await tally.produce([festival.organization()])
    await send(festival, 'events', eventJson)
    await send(festival, 'orders', orderJson)
    await tally.settle()
    await expectAnswered(festival, event, order)

    const check = ['records', 'check', '--from-kafka', '--event', festival.eventId]
    expect(await command(check, tally.settings)).toMatchObject({
      code: 0,
      stderr: 'records check: 2 records checked, 0 rejected\n',
    })
  },
)

test('`tally feed` sends the largest event and order', async () => {
  const festival = newFestival()
  const { event, order } = largestOf(festival, writings.threeBytes)
  const folder = mkdtempSync(join(tmpdir(), 'tally-large-'))
  const file = join(folder, 'records.jsonl')
  const line = ({ type, value }: TestRecord) =>
    JSON.stringify({ topic: `tally.${type}`, key: festival.eventId, value })
  writeFileSync(file, `${line(event)}\n${line(order)}\n`)
  try {
    expect(await runTally(['feed', '--data', file], tally.settings)).toMatchObject({ code: 0 })
  } finally {
    rmSync(folder, { recursive: true })
  }
  await tally.count([festival.organization()])
  await expectAnswered(festival, event, order)
})

test('a rebuild from the topics reads the largest event and order', async () => {
  const festival = newFestival()
  const { event, order, eventJson, orderJson } = largestOf(festival, writings.escaped)
  await tally.produce([festival.organization()])
  await send(festival, 'events', eventJson)
  await send(festival, 'orders', orderJson)
  await tally.settle()
  const { db } = tally.database
  await sql`delete from orders where event_id = ${festival.eventId}`.execute(db)
  await sql`delete from events where event_id = ${festival.eventId}`.execute(db)
  expect(await command(['rebuild', '--from-kafka', '--yes'], tally.settings)).toMatchObject({ code: 0 })
  await expectAnswered(festival, event, order)
})
