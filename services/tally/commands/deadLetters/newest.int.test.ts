import { randomBytes } from 'node:crypto'
import { createTopics, openProducer, topicNames } from '@tally/kafka'
import { tally } from '@tally/testkit/processes/command'
import { deadLetterRecord } from '@tally/testkit/records/deadLetterRecord'
import { freshDatabase } from '@tally/testkit/servers/database'
import { connectForTest } from '@tally/testkit/servers/kafka'
import { expect, inject, onTestFinished, test } from 'vitest'

async function given(offsets: number[]) {
  const { url, drop } = await freshDatabase()
  onTestFinished(drop)
  const brokers = inject('servers').kafkaBrokers
  const prefix = `test-${randomBytes(6).toString('hex')}`
  const kafka = connectForTest()
  await createTopics(kafka, { topicPrefix: prefix, partitions: 1, replicationFactor: 1 })
  const { deadLetters: topic, orders } = topicNames(prefix)
  const producer = await openProducer(kafka)
  const records = offsets.map(offset =>
    deadLetterRecord(orders, { offset, value: Buffer.from(`of ${offset}`) }),
  )
  await producer.send(records.map(({ key, value, headers }) => ({ topic, key, value, headers })))
  await producer.close()
  const settings = { KAFKA_BROKERS: brokers, DATABASE_URL: url, TOPIC_PREFIX: prefix }
  return {
    run: (...args: string[]) => tally(['dead-letters', ...args], settings),
    id: (offset: number) => `${orders}-0-${offset}`,
  }
}

test('with --limit only the newest dead letters are listed, the oldest of them first', async () => {
  const { run, id } = await given([1, 2, 3, 4, 5])
  const { code, stdout } = await run('list', '--json', '--limit', '2')
  const ids = stdout
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).id)
  expect({ code, ids }).toEqual({ code: 0, ids: [id(4), id(5)] })
  const all = await run('list', '--json', '--limit', '9')
  expect(all.stdout).toBe((await run('list', '--json')).stdout)
  expect(JSON.parse((await run('show', id(2))).stdout).value).toBe('of 2')
})

test('an invalid --limit is wrong usage', async () => {
  const { run } = await given([1])
  for (const limit of ['0', '-1', 'x']) {
    expect(await run('list', `--limit=${limit}`)).toEqual({
      code: 2,
      stdout: '',
      stderr: `tally: --limit takes a whole number from 1, got "${limit}"\n`,
    })
  }
})
