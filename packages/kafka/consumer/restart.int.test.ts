import { randomUUID } from 'node:crypto'
import { connectForTest, newTopic, producerForTest, readForTest } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { expect, onTestFinished, test } from 'vitest'
import type { Consumer } from '../types.ts'

const shards = 30
const members = 5
/** How often a record is sent to each partition. */
const everyMs = 100

/** Two co-partitioned topics under a steady load, and a group that reads them; a shard is a partition of both. */
async function given() {
  const connection = connectForTest()
  const topics = [
    await newTopic(connection, { partitions: shards }),
    await newTopic(connection, { partitions: shards }),
  ]
  const producer = await producerForTest(connection)
  const all = topics.flatMap(topic =>
    Array.from({ length: shards }, (_, partition) => ({ topic, partition })),
  )
  const sending = setInterval(
    () => void producer.send(all.map(of => ({ ...of, key: null, value: 'v' }))).catch(() => undefined),
    everyMs,
  )
  onTestFinished(() => clearInterval(sending))

  const groupId = `group-${randomUUID()}`
  const owners = new Map<number, number>()
  const moves = new Map<number, number>()
  const read = new Map<string, { atMs: number; longestMs: number }>()
  let started = 0
  const join = async (): Promise<Consumer> => {
    const id = ++started
    const { consumer } = await readForTest(connection, {
      topics,
      groupId,
      onAssigned(assignment) {
        expect(assignment.get(topics[0] ?? '')).toEqual(assignment.get(topics[1] ?? ''))
        for (const shard of assignment.get(topics[0] ?? '') ?? []) {
          if (owners.has(shard) && owners.get(shard) !== id) moves.set(shard, (moves.get(shard) ?? 0) + 1)
          owners.set(shard, id)
        }
      },
      async onBatch({ topic, partition, next }) {
        const key = `${topic}-${partition}`
        const { atMs = performance.now(), longestMs = 0 } = read.get(key) ?? {}
        const nowMs = performance.now()
        read.set(key, { atMs: nowMs, longestMs: Math.max(longestMs, nowMs - atMs) })
        return next
      },
    })
    return consumer
  }
  return {
    join,
    moves,
    read,
    /** Waits until these consumers share the shards evenly, and all of them are read. */
    async settled(consumers: Consumer[]) {
      const sizeOf = (consumer: Consumer) => consumer.state().assignment.get(topics[0] ?? '')?.length ?? 0
      await until(
        'the shards are spread',
        () =>
          consumers.every(
            one => one.state().joined && sizeOf(one) >= Math.floor(shards / consumers.length),
          ) && consumers.reduce((sum, one) => sum + sizeOf(one), 0) === shards,
      )
      const sinceMs = performance.now()
      await until('every partition is read', () =>
        all.every(({ topic, partition }) => (read.get(`${topic}-${partition}`)?.atMs ?? 0) > sinceMs),
      )
    },
  }
}

test('if five members restart one by one, no shard moves more than twice, or stands still for 3 s', async () => {
  const { join, moves, read, settled } = await given()
  const beganMs = performance.now()
  const consumers = await Promise.all(Array.from({ length: members }, join))
  await settled(consumers)
  // On a busy machine as long as the first rebalances took.
  const mostMs = Math.max(3_000, performance.now() - beganMs)
  moves.clear()
  for (const one of read.values()) one.longestMs = 0

  for (let restarts = 0; restarts < members; restarts++) {
    await consumers.shift()?.stop()
    await settled(consumers)
    consumers.push(await join())
    await settled(consumers)
  }
  const longestMs = Math.max(...[...read.values()].map(one => one.longestMs))
  console.info(`the longest time without a record of a partition was ${Math.round(longestMs)} ms`)
  expect(moves.size).toBe(shards)
  expect(Math.max(...moves.values())).toBe(2)
  expect(longestMs).toBeLessThan(mostMs)
})
