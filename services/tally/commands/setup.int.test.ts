import { randomBytes } from 'node:crypto'
import { asyncApiDocument } from '@tally/contract'
import { added, addedForValue } from '@tally/dead-letters'
import { describeTopics, topicConfigs, topicNames } from '@tally/kafka'
import { checkSchema } from '@tally/schema'
import { tally } from '@tally/testkit/processes/command'
import { runTally } from '@tally/testkit/processes/process'
import { freshDatabase } from '@tally/testkit/servers/database'
import { connectForTest } from '@tally/testkit/servers/kafka'
import { expect, inject, test } from 'vitest'

const upToDate = 'the schema already has this version\n'

test('concurrent migrations create the schema once, and a later one changes nothing', async () => {
  const { url, db, drop } = await freshDatabase({ migrated: false })
  try {
    const run = () => tally(['migrate'], { DATABASE_URL: url })
    const both = await Promise.all([run(), run()])
    expect(both.map(({ code, stderr }) => ({ code, stderr }))).toEqual(
      both.map(() => ({ code: 0, stderr: '' })),
    )
    expect(both.map(({ stdout }) => stdout).sort()).toEqual([
      expect.stringMatching(/^ran 0016-column-statistics\n(ran .*\n)*the schema has this version now\n$/),
      upToDate,
    ])
    await checkSchema(db)
    expect(await run()).toEqual({ code: 0, stdout: upToDate, stderr: '' })
  } finally {
    await drop()
  }
})

test('missing topics are created, existing ones stay, and another number of partitions is a failure', async () => {
  const prefix = `test-${randomBytes(6).toString('hex')}`
  const create = (...more: string[]) =>
    tally(['topics', 'create', ...more], {
      KAFKA_BROKERS: inject('servers').kafkaBrokers,
      TOPIC_PREFIX: prefix,
    })
  const topics = ['organizations', 'events', 'orders', 'refunds', 'dead-letters'].map(
    name => `${prefix}.${name}`,
  )
  expect(await create('--partitions', '3')).toEqual({
    code: 0,
    stdout: topics.map(topic => `created ${topic}\n`).join(''),
    stderr: '',
  })
  const again = { code: 0, stdout: topics.map(topic => `${topic} exists already\n`).join(''), stderr: '' }
  expect(await create('--partitions', '3')).toEqual(again)
  expect(await create()).toEqual(again)
  expect(await create('--partitions', '4')).toMatchObject({
    code: 1,
    stdout: '',
    stderr: expect.stringMatching(
      /^tally: existing topics have another number of partitions: .* Give --partitions the number that events, orders and refunds have; of the other/,
    ),
  })
})

test('the topics of `topics create`, and the headers of dead letters, are those of the AsyncAPI document', async () => {
  const { kafkaBrokers } = inject('servers')
  const topicPrefix = `test-${randomBytes(6).toString('hex')}`
  await tally(['topics', 'create'], { KAFKA_BROKERS: kafkaBrokers, TOPIC_PREFIX: topicPrefix })
  const { channels, components } = asyncApiDocument({ topicPrefix })
  const documented = Object.values(channels).map(({ bindings }) => bindings.kafka)
  const topics = documented.map(({ topic }) => topic)
  expect(topics.toSorted()).toEqual(Object.values(topicNames(topicPrefix)).toSorted())

  const kafka = connectForTest(kafkaBrokers)
  const counts = await describeTopics(kafka, topics)
  const names = ['cleanup.policy', 'retention.ms', 'retention.bytes', 'max.message.bytes']
  const settings = await topicConfigs(kafka, topics, names)
  for (const { topic, partitions, topicConfiguration } of documented) {
    expect([topic, counts.get(topic)]).toEqual([topic, partitions])
    for (const [name, value] of Object.entries(topicConfiguration))
      expect([topic, name, settings.get(topic)?.get(name)]).toEqual([topic, name, String(value)])
  }
  const headers = [added, addedForValue].flatMap(names => Object.values(names))
  expect(Object.keys(components.messages.deadLetter.headers.properties).toSorted()).toEqual(
    headers.toSorted(),
  )
})

test('a feed, a list of offsets and a projector without their topics name the command to run', async () => {
  const { url, drop } = await freshDatabase()
  const settings = {
    KAFKA_BROKERS: inject('servers').kafkaBrokers,
    DATABASE_URL: url,
    TOPIC_PREFIX: `test-${randomBytes(6).toString('hex')}`,
    OPS_PORT: '0',
    LOG_LEVEL: 'silent',
  }
  try {
    for (const command of ['feed', 'offsets', 'projector']) {
      expect(await runTally([command], settings)).toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.stringMatching(/the topics .* are not there: run `tally topics create`("\})?\n$/),
      })
    }
  } finally {
    await drop()
  }
})
