import { parsedLines } from '@tally/testkit/processes/command'
import { headerOf, readDeadLetters } from '@tally/testkit/servers/deadLetters'
import { until } from '@tally/testkit/until'
import { expect, test } from 'vitest'
import { type Festival, type LogFixture, metricsOf, missingOf, openLogFixture } from './support/logFixture.ts'

// The tests wait for Kafka most of the time: each has topics of its own, and they run at the same time.

/** Sends new orders of a festival; resolves when Kafka has them. */
const sell = ({ tally }: LogFixture, festival: Festival, count: number): Promise<void> =>
  tally.produce(Array.from({ length: count }, () => festival.order()))

const countedAre = (fixture: LogFixture, festival: Festival, count: number): Promise<void> =>
  until(`${count} orders are counted`, async () => (await fixture.counted(festival)) === count)

/** Ends the only projector once everything sent is counted; the next one to start takes its place. */
async function endProjector({ tally }: LogFixture): Promise<void> {
  await tally.settle()
  await tally.projectors[0]?.end()
  tally.projectors.length = 0
}

/** Expects the projector to report a stalled partition everywhere, with the command to run. */
async function expectLoud(fixture: LogFixture, topic: string, state: string): Promise<void> {
  const [projector] = fixture.tally.projectors
  const command = `\`tally offsets accept ${topic} 0\``
  const line = await projector?.line(({ level, msg }) => level === 50 && String(msg).includes(command))
  expect(line).toMatchObject({ topic, partition: 0, state })
  const message = String(line?.msg)
  await until('it is not ready', async () => (await missingOf(projector))?.includes(message) === true)
  expect(await metricsOf(projector)).toContain(
    `tally_projector_stalled_partitions{topic="${topic}",partition="0",state="${state}"} 1`,
  )
  await until('commands and pages know', async () => (await stallOf(fixture, topic))?.message === message)
  expect(await fixture.listed(topic, 0)).toMatchObject({ state })
}

const stallOf = ({ tally }: LogFixture, topic: string) =>
  tally.database.db
    .selectFrom('partition_logs')
    .select(['state', 'message'])
    .where('topic', '=', topic)
    .where('partition', '=', 0)
    .executeTakeFirst()

/** Accepts what a partition holds now: nothing happens without --yes; the projector continues without a restart. */
async function accept(fixture: LogFixture, topic: string): Promise<string> {
  const before = await fixture.listed(topic, 0)
  const asked = await fixture.command('offsets', 'accept', topic, '0')
  expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('--yes') })
  expect(await fixture.listed(topic, 0)).toEqual(before)
  const done = await fixture.command('offsets', 'accept', topic, '0', '--yes')
  expect(done).toMatchObject({ code: 0, stderr: '' })
  expect(done.stdout).toContain(asked.stdout)
  await until('it is ready again', async () => (await missingOf(fixture.tally.projectors[0])) === undefined)
  return asked.stdout.trim()
}

/** Expects what was given up in the dead letters and in the audit. */
async function expectRemembered(fixture: LogFixture, reason: string, givenUp: string): Promise<void> {
  const deadLetters = (await readDeadLetters(fixture.tally)).filter(
    deadLetter => headerOf(deadLetter, 'tally.reason') === reason,
  )
  expect(deadLetters.map(deadLetter => headerOf(deadLetter, '__connect.errors.exception.message'))).toEqual([
    givenUp,
  ])
  const { stdout } = await fixture.command('dead-letters', 'list', '--json')
  const [deadLetter] = parsedLines(stdout)
  expect(deadLetter).toMatchObject({ reason, message: givenUp })
  const replayed = await fixture.command('dead-letters', 'replay', String(deadLetter?.id))
  expect(replayed).toMatchObject({ code: 1, stderr: expect.stringContaining('cannot be replayed') })
  const entries = fixture.tally.database.db.selectFrom('audit_entries').selectAll()
  const audit = await entries.where('action', 'like', 'offsets-%').execute()
  expect(audit).toMatchObject([{ organization_id: null, detail: expect.stringContaining(givenUp) }])
}

test.concurrent('a first start of a log that begins above 0 reads from its start and logs that once', async ({
  onTestFinished,
}) => {
  const fixture = await openLogFixture(onTestFinished, { projectors: 0 })
  const sold = await fixture.festivalIn(0)
  await sell(fixture, sold, 5)
  await fixture.deleteBefore(fixture.names.orders, 0, 3)
  const projector = await fixture.tally.startProjector()
  await countedAre(fixture, sold, 2)
  const warnings = projector.log().match(/the log begins above offset 0/g)
  expect(warnings).toHaveLength(1)
  expect(await metricsOf(projector)).toContain(
    `tally_projector_late_starts_total{topic="${fixture.names.orders}",partition="0"} 1`,
  )
  await projector.end()
  const again = await fixture.tally.startProjector()
  await sell(fixture, sold, 1)
  await countedAre(fixture, sold, 3)
  expect(again.log()).not.toContain('the log begins above offset 0')
}, 600_000)

test.concurrent('records that retention removed before they were applied stop only their partition, until they are given up', async ({
  onTestFinished,
}) => {
  const fixture = await openLogFixture(onTestFinished)
  const [held, other] = [await fixture.festivalIn(0), await fixture.festivalIn(1)]
  await sell(fixture, held, 2)
  await endProjector(fixture)
  await sell(fixture, held, 7)
  await fixture.deleteBefore(fixture.names.orders, 0, 6)
  await fixture.tally.startProjector()
  await expectLoud(fixture, fixture.names.orders, 'gap')
  expect(fixture.tally.projectors[0]?.log()).toContain('4 records are missing: offsets 2 to 5')
  await sell(fixture, other, 3)
  await countedAre(fixture, other, 3)
  expect(await fixture.counted(held)).toBe(2)
  const givenUp = await accept(fixture, fixture.names.orders)
  await countedAre(fixture, held, 5)
  await expectRemembered(fixture, 'gap', givenUp)
  await until('nothing is behind', async () => {
    const { state } = (await fixture.listed(fixture.names.orders, 0)) as unknown as { state: string }
    return state === 'ok'
  })
}, 600_000)

test.concurrent('a topic that is deleted and created again under a running projector is not applied before it is accepted', async ({
  onTestFinished,
}) => {
  const fixture = await openLogFixture(onTestFinished)
  const [sold, other] = [await fixture.festivalIn(0), await fixture.festivalIn(1)]
  await sell(fixture, sold, 3)
  await fixture.tally.settle()
  const { orders } = fixture.names
  await fixture.deleteTopic(orders)
  await fixture.createTopic(orders)
  await sell(fixture, sold, 8)
  await expectLoud(fixture, orders, 'recreated')
  expect(await fixture.counted(sold)).toBe(3)
  const moved = await fixture.tally.database.db
    .selectFrom('shard_offsets')
    .select('next_offset')
    .where('topic', '=', orders)
    .where('partition', '=', 0)
    .executeTakeFirst()
  expect(moved?.next_offset).toBe(3)
  const givenUp = await acceptBoth(fixture, orders)
  await countedAre(fixture, sold, 11)
  await sell(fixture, other, 2)
  await countedAre(fixture, other, 2)
  expect(givenUp).toContain('created again')
}, 600_000)

test.concurrent('a partition whose log holds another record than the applied one stands still', async ({
  onTestFinished,
}) => {
  const fixture = await openLogFixture(onTestFinished)
  const sold = await fixture.festivalIn(0)
  await sell(fixture, sold, 3)
  await endProjector(fixture)
  // As after an unclean leader election: the topic is the same, its last records are not.
  await fixture.tally.database.db
    .updateTable('shard_offsets')
    .set({ fingerprint: Buffer.alloc(32, 1) })
    .where('topic', '=', fixture.names.orders)
    .where('partition', '=', 0)
    .execute()
  await fixture.tally.startProjector()
  await expectLoud(fixture, fixture.names.orders, 'recreated')
  await sell(fixture, sold, 2)
  const givenUp = await accept(fixture, fixture.names.orders)
  await countedAre(fixture, sold, 5)
  await expectRemembered(fixture, 'recreated', givenUp)
}, 600_000)

test.concurrent('offsets are skipped on request, whether a projector runs or not, and wrong requests are refused', async ({
  onTestFinished,
}) => {
  const fixture = await openLogFixture(onTestFinished, { projectors: 0 })
  const { orders } = fixture.names
  const sold = await fixture.festivalIn(0)
  await sell(fixture, sold, 5)
  expect(await fixture.listed(orders, 0)).toEqual({
    topic: orders,
    partition: 0,
    applied: 0,
    logStart: 0,
    logEnd: 5,
    state: 'behind',
  })
  await fixture.tally.startProjector()
  await countedAre(fixture, sold, 5)
  await fixture.tally.projectors[0]?.end()
  await sell(fixture, sold, 5)
  const skip = (...args: string[]) => fixture.command('offsets', 'skip', ...args)
  for (const [args, sentence] of [
    [['nothing', '0', '--to', '7'], 'there is no topic nothing'],
    [[orders, '9', '--to', '7'], 'has 2 partitions'],
    [[orders, '0', '--to', '5'], '--to takes an offset after 5'],
    [[orders, '0', '--to', '11'], '--to takes at most 10'],
    [[orders, '0', '--to', '7'], 'repeat with --yes'],
    [[orders, 'x', '--to', '7'], 'PARTITION takes a whole number'],
  ] as const)
    expect(await skip(...args)).toMatchObject({ code: 2, stderr: expect.stringContaining(sentence) })
  const nothing = await fixture.command('offsets', 'accept', orders, '0', '--yes')
  expect(nothing).toMatchObject({ code: 1, stderr: expect.stringContaining('nothing to accept') })
  const done = await skip(orders, '0', '--to', '7', '--yes')
  expect(done).toMatchObject({ code: 0, stderr: '' })
  await expectRemembered(fixture, 'skipped', String(done.stdout.split('\n')[0]))
  await fixture.tally.startProjector()
  await countedAre(fixture, sold, 8)
}, 600_000)

test.concurrent('the projector warns about a topic whose records Kafka removes by itself', async ({
  onTestFinished,
}) => {
  const fixture = await openLogFixture(onTestFinished)
  // Topics that `createTopic` of this test creates have the cluster's retention.
  const [projector] = fixture.tally.projectors
  expect(projector?.log()).not.toContain('loses records')
  await fixture.deleteTopic(fixture.names.refunds)
  await fixture.createTopic(fixture.names.refunds)
  const other = await fixture.tally.startProjector()
  const line = await other.line(({ msg }) => String(msg).includes('loses records'))
  expect(line).toMatchObject({
    topic: fixture.names.refunds,
    settings: [expect.stringMatching(/^retention\.ms=\d+$/)],
  })
}, 600_000)

/** Accepts both partitions of a topic that was created again; returns what is given up in the first one. */
async function acceptBoth(fixture: LogFixture, topic: string): Promise<string> {
  const done = await fixture.command('offsets', 'accept', topic, '1', '--yes')
  expect(done).toMatchObject({ code: 0, stderr: '' })
  return accept(fixture, topic)
}
