import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { until } from '@tally/testkit/until'
import { beforeAll, expect, test } from 'vitest'
import { pack, peakMemoryOf, sendPacked, sha256OfSpaces } from './support/bombs.ts'
import { readDeadLetterSummaries } from './support/deadLetters.ts'

/** docs/reliability.md, Records. */
const GIBIBYTE = 1024 ** 3
const tally = useTally({ partitions: 1 })
const festival = newFestival()
let token: string

beforeAll(async () => {
  await tally.count([festival.organization(), festival.event()])
  token = await tally.key(festival.organizationId)
})

async function orders(): Promise<number> {
  const { body } = await tally.get(`${festival.path}/analytics/kpis`, { token })
  return body.data.totalOrders
}
const goodOrder = () => ({
  key: festival.eventId,
  value: Buffer.from(JSON.stringify(festival.order().value)),
})
const peak = () => peakMemoryOf(tally.projectors[0]?.pid ?? 0)
/** Waits until this many orders are counted: everything before them in their partition is done by then. */
const counted = (count: number) =>
  until(`${count} orders are counted`, async () => (await orders()) === count, 240_000)

const hugeSpaces = 540_000_000
const huge = { key: festival.eventId, value: { spaces: hugeSpaces } }
const hugeSha256 = sha256OfSpaces(hugeSpaces)

test('a record of 540 MB in a small gzip batch is a dead letter without its value, the records around it count', async () => {
  const before = await orders()
  const seen = (await readDeadLetterSummaries(tally)).length
  const packed = await pack('gzip', [goodOrder(), huge, goodOrder()])
  expect(packed.length).toBeLessThan(1_000_000)
  await sendPacked(tally, 'orders', { codec: 'gzip', packed, count: 3 })
  await counted(before + 2)
  expect((await readDeadLetterSummaries(tally)).slice(seen)).toMatchObject([
    { reason: 'too-large', bytes: String(hugeSpaces), sha256: hugeSha256, length: undefined },
  ])

  expect(peak()).toBeLessThan(GIBIBYTE)
})

test('the records of a small batch that unpacks to 3 GB are treated one by one, in bounded memory', async () => {
  const before = await orders()
  const seen = (await readDeadLetterSummaries(tally)).length
  const spaces = 7 * 1024 * 1024
  const bad = { key: festival.eventId, value: { spaces } }
  const records = [goodOrder(), ...Array(4).fill(huge), goodOrder(), ...Array(150).fill(bad), goodOrder()]
  const packed = await pack('zstd', records)
  expect(packed.length).toBeLessThan(1_000_000)
  await sendPacked(tally, 'orders', { codec: 'zstd', packed, count: records.length })
  await counted(before + 3)
  const came = (await readDeadLetterSummaries(tally)).slice(seen)
  const tooLarge = { reason: 'too-large', bytes: String(hugeSpaces), sha256: hugeSha256, length: undefined }
  expect(came).toMatchObject([
    ...Array(4).fill(tooLarge),
    ...Array(150).fill({ reason: 'not-json', length: spaces }),
  ])

  expect(peak()).toBeLessThan(GIBIBYTE)
}, 300_000)
