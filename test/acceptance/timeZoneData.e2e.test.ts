import { tally as command } from '@tally/testkit/processes/command'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival, saturday } from '@tally/testkit/records/festival'
import { allKeys } from '@tally/testkit/servers/redis'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'

const tally = useTally()
const festival = newFestival()
const byHour = `${festival.path}/analytics/orders/by-hour?dayId=${saturday}`

/**
 * docs/operations.md, Time zone data. The documents become those that a Tally with the data of 2026c composed:
 * Winnipeg's summer time ended in November then. No query process has answered before, as after an upgrade.
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
  await putOld()
  let old = await ask()
  // A process that Redis answers too late, as on a busy machine, answers from Postgres, and may publish that.
  await until('the answer is that of the old data', async () => {
    if (old.body.data[0]?.hour === 12) return true
    await putOld()
    old = await ask()
    return false
  })
  expect(old.body.data).toMatchObject([{ hour: 12, orderCount: 1 }])
  const tag = { 'If-None-Match': String(old.headers.etag) }
  expect((await ask(tag)).status).toBe(304)
  const { code, stdout } = await command(['verify'], tally.settings)
  expect([code, stdout]).toEqual([1, expect.stringContaining('hours')])

  expect((await command(['rebuild'], tally.settings)).code).toBe(0)
  // The process has the old answer in memory, and the device has its tag.
  expect((await ask(tag)).body.data).toMatchObject([{ hour: 13, orderCount: 1 }])
  expect(await command(['verify'], tally.settings)).toMatchObject({ code: 0, stdout: '' })
})
