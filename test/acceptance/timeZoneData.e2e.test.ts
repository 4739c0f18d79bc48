import { tally as command } from '@tally/testkit/processes/command'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival, saturday } from '@tally/testkit/records/festival'
import { allKeys } from '@tally/testkit/servers/redis'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'

const tally = useTally({ queries: 0 })
const festival = newFestival()
const byHour = `${festival.path}/analytics/orders/by-hour?dayId=${saturday}`

/**
 * docs/operations.md, Time zone data. The documents become those that a Tally with the data of 2026c composed:
 * Winnipeg's summer time ended in November then. The query process starts after that, as in an upgrade.
 */
test('after newer time zone data, `tally rebuild` moves hours that were composed with the old data', async () => {
  const order = festival.order({ orderDateTime: '2026-11-15T18:30:00Z' })
  const event = festival.event({ timeZone: 'America/Winnipeg' })
  await tally.count([festival.organization(), event, order])
  // It may publish once more what it has just counted.
  await Promise.all(tally.projectors.map(projector => projector.end()))
  const key = allKeys(tally.settings.REDIS_PREFIX ?? '').event(festival.eventId as never)
  const putOld = async () => {
    for (const [field, document] of Object.entries(await tally.redis.hgetall(key)))
      if (field.startsWith(`hours:${saturday}:`))
        await tally.redis.hset(key, field, document.replace('"hour":13', '"hour":12'))
  }

  const token = await tally.key(festival.organizationId)
  const ask = (headers = {}) => tally.get(byHour, { token, headers })
  let tag = {}
  // A process that Redis answers too late, as on a busy machine, answers from Postgres, keeps that, and may publish it.
  await until('a new process has the old answer in its memory', async () => {
    await putOld()
    tally.queries[0] = await tally.startQuery()
    const { body, headers } = await ask()
    tag = { 'If-None-Match': String(headers.etag) }
    return body.data[0]?.hour === 12 && (await ask(tag)).status === 304
  })
  const { code, stdout } = await command(['verify'], tally.settings)
  expect([code, stdout]).toEqual([1, expect.stringContaining('hours')])

  expect((await command(['rebuild'], tally.settings)).code).toBe(0)
  // The process has the old answer in memory, and the device has its tag.
  expect((await ask(tag)).body.data).toMatchObject([{ hour: 13, orderCount: 1 }])
  expect(await command(['verify'], tally.settings)).toMatchObject({ code: 0, stdout: '' })
})
