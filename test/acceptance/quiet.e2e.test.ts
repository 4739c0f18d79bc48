import { oracle } from '@tally/testkit/oracle/oracle'
import { expectAllAnswers } from '@tally/testkit/oracle/questions'
import { tally as command } from '@tally/testkit/processes/command'
import { useTally } from '@tally/testkit/processes/tally'
import { eventPaths } from '@tally/testkit/records/eventPaths'
import { newFestival } from '@tally/testkit/records/festival'
import { allKeys } from '@tally/testkit/servers/redis'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'

const tally = useTally({ settings: { REDIS_QUIET_AFTER: '2s' } })
const festival = newFestival()
const order = festival.order()
const records = [
  festival.organization(),
  festival.event(),
  order,
  festival.order({ areaId: 2 }),
  festival.refund({ orderId: order.value.orderId }),
]

test('documents of a quiet event expire, and come back with the next request, whose answer and tag are the same', async () => {
  await tally.count(records)
  const token = await tally.key(festival.organizationId)
  const key = allKeys(tally.settings.REDIS_PREFIX ?? '').event(festival.eventId as never)
  const ask = async (path: string, headers = {}) => {
    const reply = await tally.get(`${festival.path}${path}`, { token, headers })
    return { status: reply.status, data: reply.body?.data, etag: String(reply.headers.etag) }
  }
  const expired = () => until('the documents have expired', async () => (await tally.redis.exists(key)) === 0)
  /** They come back after the answer. Asked again, because a busy machine may look too late. */
  const back = () =>
    until('the documents are back', async () => {
      await ask('')
      return (await tally.redis.exists(key)) === 1
    })
  const before = await Promise.all(eventPaths.map(path => ask(path)))
  expect(new Set(before.map(({ status }) => status))).toEqual(new Set([200]))

  await expired()
  expect(await Promise.all(eventPaths.map(path => ask(path)))).toEqual(before)
  await back()

  await expired()
  const [first] = before
  expect((await ask('', { 'If-None-Match': first?.etag })).status).toBe(304)
  await back()

  await expired()
  // The projector's walk has met the missing key several times by now, and nothing has put it back.
  const verified = await command(['verify'], tally.settings)
  expect(verified).toMatchObject({ code: 0, stdout: '' })
  expect(await tally.redis.exists(key)).toBe(0)

  const late = festival.order()
  await tally.count([late])
  await expectAllAnswers(tally, festival.eventId, oracle([...records, late]), token)
}, 180_000)
