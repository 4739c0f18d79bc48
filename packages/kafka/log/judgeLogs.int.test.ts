import { deleteBefore, logOf } from '@tally/testkit/servers/kafka'
import { expect, test } from 'vitest'
import { fingerprintOf } from '../batches/records.ts'
import { judgeLogs, type LogPosition } from './judgeLogs.ts'
import { logEnds } from './logEnds.ts'
import { readRecordAt } from './readLog.ts'

/** A log of ten records from which `deleted` were deleted, and what a position in it is judged to be. */
async function given({ deleted = 0 } = {}) {
  const { connection, topic } = await logOf([...'abcdefghij'])
  if (deleted > 0) await deleteBefore(connection, { topic, partition: 0, offset: deleted })
  const of = { topic, partition: 0 }
  const topicId = (await logEnds(connection, [of])).get(topic)?.get(0)?.topicId ?? null
  const none = { fingerprint: null, fingerprintOffset: null }
  return {
    topic,
    judge: async (position: Partial<LogPosition>) => {
      const [log] = await judgeLogs(connection, [{ ...of, topicId, nextOffset: 0, ...none, ...position }])
      return log
    },
    async fingerprintAt(offset: number) {
      const record = await readRecordAt(connection, of, offset)
      if (record === undefined) throw new Error('there is no such record')
      return { fingerprint: fingerprintOf(record), fingerprintOffset: offset }
    },
  }
}

test('a position inside the log is right, whatever part of the log is behind it', async () => {
  const { judge, fingerprintAt } = await given({ deleted: 3 })
  for (const nextOffset of [3, 7, 10]) expect(await judge({ nextOffset })).toMatchObject({ state: 'ok' })
  expect(await judge({ nextOffset: 6, ...(await fingerprintAt(5)) })).toMatchObject({ state: 'ok' })
  // Its last record is gone, which proves nothing.
  expect(await judge({ nextOffset: 3, fingerprint: Buffer.alloc(32), fingerprintOffset: 2 })).toMatchObject({
    state: 'ok',
  })
})

test('records that are gone before they were applied are counted, with the command that accepts it', async () => {
  const { judge, topic } = await given({ deleted: 3 })
  expect(await judge({ nextOffset: 1 })).toMatchObject({
    state: 'gap',
    missing: 2,
    start: 3,
    end: 10,
    message: expect.stringContaining(`2 records are missing: offsets 1 to 2`),
  })
  expect(await judge({ nextOffset: 2 })).toMatchObject({
    message: expect.stringMatching(new RegExp(`1 record is missing.*\`tally offsets accept ${topic} 0\``)),
  })
})

test('another topic id, an end before the position, or another record there is another log', async () => {
  const { judge, fingerprintAt } = await given()
  expect(await judge({ nextOffset: 5, topicId: 'another' })).toMatchObject({ state: 'recreated' })
  expect(await judge({ nextOffset: 11 })).toMatchObject({ state: 'recreated' })
  const wrong = { ...(await fingerprintAt(4)), fingerprintOffset: 5 }
  expect(await judge({ nextOffset: 6, ...wrong })).toMatchObject({ state: 'recreated' })
  expect(await judge({ nextOffset: 6, topicId: null })).toMatchObject({ state: 'ok' })
})
