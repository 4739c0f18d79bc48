import { ensureOffsets } from '@tally/offsets'
import { databaseOfFile } from '@tally/testkit/servers/database'
import { until } from '@tally/testkit/until'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { watchWatermarks } from './watermarks.ts'

const database = await databaseOfFile()

test('a watermark in Redis later than the database’s clock, which has gone back, is not relied on', async () => {
  const { db } = database
  await ensureOffsets(db, 'orders', [0, 1])
  await sql`update shard_watermarks set as_of = clock_timestamp() + interval '1 hour' * partition`.execute(db)
  const { rows } = await sql<{
    atMs: number
  }>`select as_of as "atMs" from shard_watermarks order by 1`.execute(db)
  const [now, future] = rows.map(({ atMs }) => atMs) as [number, number]
  const watermarks = watchWatermarks({ db, topics: ['orders'], onSilent() {}, onFailure() {} })
  onTestFinished(watermarks.close)
  const isUsed = (atMs: number) => [watermarks.isFuture(atMs), watermarks.isStale(1, atMs)]
  expect(isUsed(future)).toEqual([false, false])
  await until('the first poll is answered', () => watermarks.ages().size > 0)
  expect([...watermarks.ages().keys()]).toEqual([0])
  expect(isUsed(future)).toEqual([true, true])
  expect(isUsed(now)).toEqual([false, false])
})
