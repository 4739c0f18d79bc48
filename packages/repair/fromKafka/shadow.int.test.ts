import { databaseOfFile } from '@tally/testkit/servers/database'
import { connectForTest, loseLeader, newTopic } from '@tally/testkit/servers/kafka'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { isSameLog, openShadow, shadowSchema } from './shadow.ts'

const { db } = await databaseOfFile()

test('an interrupted run is continued, unless a log is another one or an older version began it', async () => {
  const first = await openShadow(db, 'tally', async () => true)
  expect(first.continued).toBe(false)
  expect(await openShadow(db, 'tally', async () => true)).toEqual({ ...first, continued: true })

  const other = await openShadow(db, 'tally', async () => false)
  expect(other.continued).toBe(false)
  expect(other.id).not.toBe(first.id)

  await sql`drop table ${sql.id(shadowSchema, 'order_buckets')}`.execute(db)
  const replaced = await openShadow(db, 'tally', async () => true)
  expect(replaced.continued).toBe(false)
  expect(await openShadow(db, 'tally', async () => true)).toEqual({ ...replaced, continued: true })
  const runs = await db.selectFrom('rebuilds').select('rebuild_id').execute()
  expect(runs.map(({ rebuild_id }) => rebuild_id)).toEqual([replaced.id])
})

test('a log without a leader is not taken for another one, which would end what was read of it', async () => {
  const kafka = connectForTest()
  const topic = await newTopic(kafka, { partitions: 2 })
  await openShadow(db, 'tally', async () => true)
  await sql`
insert into ${sql.id(shadowSchema, 'shard_offsets')} (topic, partition, is_added)
values (${topic}, 0, false), (${topic}, 1, false)`.execute(db)
  const isSame = () => isSameLog({ kafka, db }, [topic])
  expect(await isSame()).toBe(true)
  loseLeader(1)
  await expect(isSame()).rejects.toThrow(`no broker leads ${topic}-1 right now`)
})
