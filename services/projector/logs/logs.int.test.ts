import { type Consumer, inside, type LogIdentity, UndecodableBatchError } from '@tally/kafka'
import { moveOffset, readLogs } from '@tally/offsets'
import { createLogger, createMetrics } from '@tally/platform'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { connectForTest, deleteBefore, newTopic, sendAll, texts } from '@tally/testkit/servers/kafka'
import { expect, test } from 'vitest'
import { projectorMetrics } from '../metrics.ts'
import { createLogs } from './logs.ts'

const database = await databaseOfFile()

/** The checks of a projector with a partition of a topic with ten records in 0, and what they do to its consumer. */
async function given(partition = 0) {
  const kafka = connectForTest()
  const topic = await newTopic(kafka)
  await sendAll(kafka, texts(topic, [...'abcdefghij']))
  const registry = createMetrics('projector')
  const done: unknown[][] = []
  const batchErrors: ReturnType<Consumer['state']>['batchErrors'] = []
  const consumer = {
    state: () => ({ batchErrors }),
    ...Object.fromEntries(
      ['seek', 'hold', 'resume'].map(name => [name, (...args: unknown[]) => done.push([name, ...args])]),
    ),
  } as unknown as Consumer
  const logs = createLogs({
    kafka,
    db: database.db,
    topics: [topic],
    metrics: projectorMetrics(registry, []),
    logger: createLogger('test', 'silent'),
    consumer: () => consumer,
    onMoved: () => {},
  })
  const starts = await logs.assigned(new Map([[topic, [partition]]]))
  const of = { topic, partition }
  return {
    kafka,
    logs,
    of,
    starts,
    done,
    batchErrors,
    metrics: () => registry.registry.metrics(),
    stored: async () => (await readLogs(database.db, [topic]))[0],
    move: (next: number, topicId: string) =>
      database.db.transaction().execute(tx => moveOffset(tx, of, { next, topicId })),
  }
}

test('a batch that cannot be decoded is reported with the command that skips it, until it is decoded or skipped', async () => {
  const { logs, of, starts, done, batchErrors, metrics, stored, move } = await given()
  expect(starts.get(of.topic)?.get(0)).toBe(0)
  await logs.tick()
  expect(logs.notReady()).toBeUndefined()
  const error = new UndecodableBatchError({ ...of, from: 4, to: 7 }, 'its checksum is wrong')
  batchErrors.push({ ...of, error })
  await logs.tick()
  const message = `${error.message}. To go past it, run \`tally offsets skip ${of.topic} 0 --to 7\`.`
  expect(logs.notReady()).toContain(message)
  expect(await metrics()).toContain(`partition="0",state="undecodable"} 1`)
  expect(await stored()).toMatchObject({ stall: { state: 'undecodable', message: logs.notReady() } })
  expect(logs.isSound(of, logs.identityOf(of) as LogIdentity)).toBe(false)

  batchErrors.length = 0
  await logs.tick()
  expect(logs.notReady()).toBeUndefined()
  expect(await metrics()).not.toContain('state="undecodable"')
  expect(await stored()).toMatchObject({ nextOffset: 0, stall: null })

  batchErrors.push({ ...of, error })
  await logs.tick()
  await move(7, (await stored())?.topicId ?? '')
  await logs.tick()
  expect(done).toEqual([['seek', of.topic, 0, 7]])
  expect(logs.notReady()).toBeUndefined()
  batchErrors.length = 0
  await logs.tick()
  expect(await stored()).toMatchObject({ nextOffset: 7, stall: null })
})

test('a partition that was not found at its assignment begins at the start of its log when it is', async () => {
  const { kafka, logs, of, starts, done, metrics, stored } = await given(1)
  const { topic } = of
  expect(starts.get(topic)?.get(1)).toBe('held')
  await inside(kafka).admin.use(admin => admin.createPartitions({ topicPartitions: [{ topic, count: 2 }] }))
  await sendAll(kafka, texts(topic, [...'abcde'], 1))
  await deleteBefore(kafka, { ...of, offset: 3 })
  await logs.tick()
  expect(logs.notReady()).toBeUndefined()
  expect(await stored()).toMatchObject({ nextOffset: 3, stall: null })
  expect(done).toEqual([
    ['seek', topic, 1, 3],
    ['resume', topic, 1],
  ])
  expect(await metrics()).toMatch(/late_starts_total\{.*partition="1".*\} 1\n/)
})

test('a batch of another log than the one that was compared is refused, and its partition is held', async () => {
  const { logs, of, done, stored, move } = await given()
  const topicId = String(logs.identityOf(of)?.topicId)
  expect((await stored())?.topicId).toBe(topicId)
  logs.verify({ ...of, topicId })
  expect(() => logs.verify({ ...of, topicId: 'another' })).toThrow(
    `was read from the topic with id another, but the next offset is that of ${topicId}`,
  )
  await move(3, 'another')
  await logs.tick()
  expect(logs.notReady()).toContain('was deleted and created again')
  expect(done).toEqual([['hold', of.topic, 0]])
  expect(await stored()).toMatchObject({ nextOffset: 3, stall: { state: 'recreated' } })
  expect(await logs.assigned(new Map([[of.topic, [0]]]))).toEqual(
    new Map([[of.topic, new Map([[0, 'held']])]]),
  )
})

test('the end of a log is sound for asOf once the log of this leader was compared', async () => {
  const { logs, of } = await given()
  const now = logs.identityOf(of) as LogIdentity
  expect(logs.isSound(of, now)).toBe(true)
  // A new leader may have cut the log, and one of another topic has nothing of it.
  expect(logs.isSound(of, { ...now, leaderEpoch: now.leaderEpoch + 1 })).toBe(false)
  expect(logs.isSound(of, { ...now, topicId: 'another' })).toBe(false)
})

test('a partition that a broker refused for its new leader goes on at once if the log fits', async () => {
  const { logs, of, done, stored, move } = await given()
  const { topicId, leaderEpoch } = logs.identityOf(of) ?? {}
  await move(4, String(topicId))
  // As if the log had been compared when another leader had it.
  Object.assign(logs.identityOf(of) ?? {}, { leaderEpoch: -7 })
  await logs.refused(of)
  expect(logs.identityOf(of)).toEqual({ topicId, leaderEpoch })
  expect(done).toEqual([
    ['seek', of.topic, 0, 4],
    ['resume', of.topic, 0],
  ])
  expect(await stored()).toMatchObject({ nextOffset: 4, stall: null })
})

test('a partition that a broker refused because the topic was created again stands still at once', async () => {
  const { logs, of, done, stored, move } = await given()
  await move(4, 'another')
  await logs.refused(of)
  expect(logs.notReady()).toContain('was deleted and created again')
  expect(done).toEqual([['hold', of.topic, 0]])
  expect(await stored()).toMatchObject({ nextOffset: 4, stall: { state: 'recreated' } })
})
