import { createTopics, openProducer, topicNames } from '@tally/kafka'
import { deadLetterRecord } from '@tally/testkit/records/deadLetterRecord'
import { onAnswers } from '@tally/testkit/servers/kafka'
import { beforeAll, expect, test } from 'vitest'
import { type newVisitor, signedIn, useFixture } from '../test/fixture.ts'

const count = 20_000
const fixture = useFixture()
let visitor: ReturnType<typeof newVisitor>
beforeAll(async () => {
  const { kafka, topicPrefix } = fixture.deps
  await createTopics(kafka, { topicPrefix, partitions: 1, replicationFactor: 1 })
  const { deadLetters: topic, orders } = topicNames(topicPrefix)
  const producer = await openProducer(kafka)
  for (let from = 0; from < count; from += 500) {
    const offsets = Array.from({ length: 500 }, (_, index) => from + index)
    const records = offsets.map(offset => deadLetterRecord(orders, { offset }))
    await producer.send(records.map(({ key, value, headers }) => ({ topic, key, value, headers })))
  }
  await producer.close()
  visitor = (await signedIn(fixture, { isPlatform: true })).visitor
}, 60_000)

/** Counts the bytes that come from Kafka. */
function countBytes(): () => number {
  let bytes = 0
  onAnswers(data => {
    bytes += data.length
  })
  return () => bytes
}

const idsOf = (body: string) =>
  [...body.matchAll(/value="[^"]*-0-(\d+)"/g)].map(([, offset]) => Number(offset))

test('a page of the newest of 20,000 dead letters reads a small part of them, and links to the older ones', async () => {
  const bytes = countBytes()
  const first = await visitor.get('/operations')
  // All of them are 4.3 MB; the page also asks for open transactions.
  expect(bytes()).toBeLessThan(1_500_000)
  expect(first.body).toMatch(/At least [\d,]+ records<\/strong> were rejected/)
  const shown = idsOf(first.body)
  expect(shown).toEqual(Array.from({ length: 50 }, (_, index) => count - 1 - index))

  const [, older = ''] = /href="(\/operations\?before=[^"]+)"/.exec(first.body) ?? []
  const second = await visitor.get(older)
  expect(idsOf(second.body)).toEqual(shown.map(offset => offset - 50))
})

test('an invalid cursor is refused', async () => {
  expect((await visitor.get('/operations?before=x')).statusCode).toBe(400)
})
