import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { useTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { expect, test } from 'vitest'
import { run } from '#infra/command.ts'
import { installClient, useFolder } from '../clients/installClient.ts'
import { log } from './programs.ts'

const tally = useTally({ settings: { RATE_LIMITS: 'Trial=2,ActiveDayPass=60,Inactive=2' } })
const festival = newFestival()
const made = useFolder()

const tenWatchers = `
import { connect } from '@tally/client'

const { TALLY_URL: url, TALLY_KEY: key, EVENT_ID: eventId } = process.env
const signal = AbortSignal.timeout(180_000)
const count = { answered: 0, refused: 0, failed: 0 }
await Promise.all(Array.from({ length: 10 }, async () => {
  for await (const { error } of connect({ url, key }).watch('getItemCounts', { eventId }, { everyMs: 5_000, signal }))
    count[error === undefined ? 'answered' : error.status === 429 ? 'refused' : 'failed'] += 1
}))
console.log(JSON.stringify(count))
`

/** Three real minutes; packages/client/watch.unit.test.ts has the same with a clock that runs faster. */
test('ten watchers of one organization get fewer than 1 % 429 in three minutes, and use what they may', async () => {
  const folder = await installClient(made)
  await tally.count([festival.organization(), festival.event(), festival.order()])
  const TALLY_KEY = await tally.key(festival.organizationId)
  const env = { TALLY_URL: tally.queries[0]?.address ?? '', TALLY_KEY, EVENT_ID: festival.eventId }
  writeFileSync(join(folder, 'watchers.mjs'), tenWatchers)
  const { stdout } = await run('node', ['watchers.mjs'], { cwd: folder, env })
  log(`ten watchers in three minutes: ${stdout.trim()}`)
  const { answered, refused, failed } = JSON.parse(stdout)
  expect(refused / (answered + refused)).toBeLessThan(0.01)
  expect(failed).toBe(0)
  // Three to four windows of 60.
  expect(answered).toBeGreaterThan(120)
})
