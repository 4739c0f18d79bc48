import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { expectSeason } from '@tally/testkit/oracle/seasonAnswers'
import { runTally } from '@tally/testkit/processes/process'
import { useTally } from '@tally/testkit/processes/tally'
import { season } from '@tally/testkit/records/season'
import { expect, onTestFinished, test } from 'vitest'

const tally = useTally()
const feed = (file: string) => runTally(['feed', '--data', file, '--rate', '0'], tally.settings)

test('a file that the feed sends answers as a count by hand', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-feed-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const { festivals, records } = season(1, { events: 2, orders: 30 })
  const lines = records.map(({ type, value }) =>
    JSON.stringify({
      topic: `tally.${type}`,
      key: type === 'organizations' ? value.organizationId : value.eventId,
      value,
    }),
  )
  const file = join(folder, 'season.jsonl.gz')
  writeFileSync(file, gzipSync(lines.join('\n')))
  expect(await feed(file)).toMatchObject({ code: 0 })
  await tally.settle()
  await expectSeason(tally, festivals, records)
})

/** A restaurant's real orders, and the answers that were computed independently; not part of the checkout. */
const realData = process.env.TALLY_REAL_DATA

if (realData) withRealData(realData)
else console.warn('TALLY_REAL_DATA is not set: the real orders are NOT tested in this run')

type Expected = {
  organizationId: string
  requests: { path: string; data?: unknown; meta?: Record<string, unknown> }[]
}

function withRealData(folder: string): void {
  test('four years of real orders, as the feed sends them, answer as computed apart', async () => {
    const expected = JSON.parse(readFileSync(join(folder, 'takeaway-expected.json'), 'utf8')) as Expected
    expect(await feed(join(folder, 'takeaway.jsonl.gz'))).toMatchObject({ code: 0 })
    await tally.settle()
    const token = await tally.key(expected.organizationId)
    for (const { path, data, meta = {} } of expected.requests) {
      const { status, body } = await tally.get(path, { token })
      expect({ path, status }).toEqual({ path, status: 200 })
      if (data !== undefined) expect({ path, data: body.data }).toEqual({ path, data })
      expect({ path, meta: body.meta }).toMatchObject({ path, meta })
    }
    expect(expected.requests.length).toBeGreaterThan(100)
  })
}
