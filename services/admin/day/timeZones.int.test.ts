import type { EventId } from '@tally/contract'
import { countNewOrders } from '@tally/testkit/records/countNewOrders'
import { anOrder } from '@tally/testkit/records/decoded'
import { until } from '@tally/testkit/until'
import { beforeAll, expect, test } from 'vitest'
import type { Beat } from '../live/day.ts'
import { newEvent, type newVisitor, signedIn, useFixture } from '../test/fixture.ts'

/** 13:30 in Winnipeg, which stays on summer time from 2026 on; the ICU of Node 24.21 says 12:30. */
const at = '2026-11-15T18:30:00Z'
const dayId = 41

const fixture = useFixture()
let visitor: ReturnType<typeof newVisitor>
let eventId: EventId
beforeAll(async () => {
  const office = await signedIn(fixture)
  visitor = office.visitor
  const days = [{ dayId, date: '2026-11-15', openedAt: 0, closedAt: null }]
  eventId = await newEvent(fixture, office.organizationId, { timeZone: 'America/Winnipeg', days })
  await countNewOrders(fixture.db, [anOrder({ eventId, dayId, orderDateTime: at })])
  for (const topic of ['events', 'orders', 'refunds'])
    await fixture.db
      .insertInto('shard_watermarks')
      .values({ topic: `${fixture.deps.topicPrefix}.${topic}`, partition: 0, as_of: at })
      .execute()
})

const bodyOf = async (page: string) => (await visitor.get(`${page}?eventId=${eventId}&day=${dayId}`)).body

test('the sheet and both files have the hour that the API answers', async () => {
  expect(await bodyOf('/live/day.csv')).toContain('"hour","13:00","1"')
  expect(await bodyOf('/live/orders.csv')).toContain('"2026-11-15 13:30:00"')
  const sheet = await bodyOf('/live/day')
  expect(sheet).toContain('<th scope="row">13:00</th>')
  expect(sheet).toMatch(/Counted up to [^<]*(13:30|1:30\sPM) \(America\/Winnipeg\)/)
})

test('the live screen gets the offset of its watermark, so that no browser has to know the zone', async () => {
  const beats: Beat[] = []
  const read = (events: Buffer) => {
    const json = /event: beat\ndata: (.*)/.exec(events.toString())?.[1]
    if (json !== undefined) beats.push(JSON.parse(json))
  }
  const end = fixture.deps.live.watch({ eventId, dayId }, { onDay: read, onBeat: read })
  await until('the watermark is there', () => beats.at(-1)?.asOfMs === Date.parse(at))
  expect(beats.at(-1)?.offsetMs).toBe(-5 * 3_600_000)
  end()
})
