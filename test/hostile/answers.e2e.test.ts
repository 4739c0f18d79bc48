import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { beforeAll, expect, test } from 'vitest'
import { memoryOf } from '../bench/tally/memoryOf.ts'
import { open } from './raw.ts'

const tally = useTally({ settings: { RATE_LIMITS: 'Trial=10000,ActiveDayPass=10000,Inactive=10000' } })
const [festival, other] = [newFestival(), newFestival()]
const orderCount = 30
/** Of these orders of 631 kB, so many fit into 5 MiB. */
const fitting = 8
let token: string
let othersToken: string

/** The longest lines that an order may have: about 630 kB as answered. */
const items = Array.from({ length: 500 }, (_, index) => ({
  menuItemId: (index % 3) + 7,
  itemName: 'n'.repeat(200),
  quantity: 1,
  unitPrice: 1,
  note: 'o'.repeat(1_000),
}))

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event()])
  await tally.produce([other.organization(), other.event(), other.order()])
  for (let index = 0; index < orderCount; index += 1) await tally.produce([festival.order({ items })])
  await tally.settle()
  token = await tally.key(festival.organizationId)
  othersToken = await tally.key(other.organizationId)
})

const orders = (pageSize: number, page = 1) =>
  tally.get(`${festival.path}/orders?pageSize=${pageSize}&page=${page}`, { token })

test('a page above 5 MiB says how many orders fit, and that many are answered, until all are', async () => {
  const { status, body } = await orders(100)
  expect([status, body.type]).toEqual([400, '/problems/page-too-large'])
  expect(body.errors).toEqual([{ parameter: 'pageSize', message: `must be at most ${fitting} here` }])
  const found = new Set<string>()
  const totalPages = Math.ceil(orderCount / fitting)
  for (let page = 1; page <= totalPages; page += 1) {
    const answer = await orders(fitting, page)
    expect(answer.body.meta.pagination).toEqual({
      page,
      pageSize: fitting,
      totalCount: orderCount,
      totalPages,
    })
    for (const { id } of answer.body.data) found.add(id)
  }
  expect(found.size).toBe(orderCount)
  expect((await orders(fitting + 1)).status).toBe(400)
})

test('large answers that are not read take little memory, and others are answered', async () => {
  const [query] = tally.queries
  const sockets = Array.from({ length: 30 }, () => open(query?.address as string).pause())
  const ask = `GET ${festival.path}/orders?pageSize=${fitting} HTTP/1.1\r\nHost: a\r\nX-Api-Key: ${token}\r\n\r\n`
  for (const socket of sockets) socket.on('error', () => {}).write(ask.repeat(20))
  // The organization has room for three.
  await expect.poll(async () => (await orders(fitting)).status).toBe(503)
  for (let round = 0; round < 20; round += 1)
    expect((await tally.get(`${other.path}/orders`, { token: othersToken })).status).toBe(200)
  const { peak } = memoryOf(query?.process.pid ?? 0)
  console.info(`query: at most ${Math.round(peak)} MiB`)
  expect(peak).toBeLessThan(300)
  for (const socket of sockets) socket.destroy()
  await expect.poll(async () => (await orders(fitting)).status).toBe(200)
})
