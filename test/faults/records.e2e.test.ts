import { readTopic, topicNames } from '@tally/kafka'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { headerOf } from '@tally/testkit/servers/deadLetters'
import { until } from '@tally/testkit/until'
import { beforeAll, expect, test } from 'vitest'
import { memoryOf } from '../bench/tally/memoryOf.ts'
import { pack, sendPacked, sha256OfSpaces } from './support/bombs.ts'

/** docs/reliability.md, Records. */
const gibibyte = 1024
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
const peak = () => memoryOf(tally.projectors[0]?.pid ?? 0).peak
/** Waits until this many orders are counted: everything before them in their partition is done by then. */
const counted = (count: number) =>
  until(`${count} orders are counted`, async () => (await orders()) === count, 240_000)

/** All dead letters without their values, which are too large to keep many. */
async function summaries() {
  const found = []
  const { deadLetters } = topicNames(tally.settings.TOPIC_PREFIX ?? '')
  for await (const { records } of readTopic(tally.kafka, deadLetters))
    for (const deadLetter of records) {
      const of = (name: string) => headerOf(deadLetter, `tally.${name}`)
      const [reason, bytes, sha256] = [of('reason'), of('value-bytes'), of('value-sha256')]
      found.push({ reason, bytes, sha256, length: deadLetter.value?.length })
    }
  return found
}

const hugeSpaces = 540_000_000
const huge = { key: festival.eventId, value: { spaces: hugeSpaces } }
const hugeSha256 = sha256OfSpaces(hugeSpaces)

test('a record of 540 MB in a small gzip batch is a dead letter without its value, the records around it count', async () => {
  const before = await orders()
  const seen = (await summaries()).length
  const packed = await pack('gzip', [goodOrder(), huge, goodOrder()])
  expect(packed.length).toBeLessThan(1_000_000)
  await sendPacked(tally, 'orders', { codec: 'gzip', packed, count: 3 })
  await counted(before + 2)
  expect((await summaries()).slice(seen)).toMatchObject([
    { reason: 'too-large', bytes: String(hugeSpaces), sha256: hugeSha256, length: undefined },
  ])

  expect(peak()).toBeLessThan(gibibyte)
})

test('the records of a small batch that unpacks to 3 GB are treated one by one, in bounded memory', async () => {
  const before = await orders()
  const seen = (await summaries()).length
  const spaces = 7 * 1024 * 1024
  const bad = { key: festival.eventId, value: { spaces } }
  const records = [goodOrder(), ...Array(4).fill(huge), goodOrder(), ...Array(150).fill(bad), goodOrder()]
  const packed = await pack('zstd', records)
  expect(packed.length).toBeLessThan(1_000_000)
  await sendPacked(tally, 'orders', { codec: 'zstd', packed, count: records.length })
  await counted(before + 3)
  const came = (await summaries()).slice(seen)
  const tooLarge = { reason: 'too-large', bytes: String(hugeSpaces), sha256: hugeSha256, length: undefined }
  expect(came).toMatchObject([
    ...Array(4).fill(tooLarge),
    ...Array(150).fill({ reason: 'not-json', length: spaces }),
  ])

  expect(peak()).toBeLessThan(gibibyte)
}, 300_000)
