import { expectSeason } from '@tally/testkit/oracle/seasonAnswers'
import { runTally, startProcess, type TallyProcess } from '@tally/testkit/processes/process'
import { type TestRecord, useTally } from '@tally/testkit/processes/tally'
import { season } from '@tally/testkit/records/season'
import { until } from '@tally/testkit/until'
import { expect, onTestFinished, test } from 'vitest'
import { accountOf, expectKept } from './account.ts'
import { openBalancer } from './balancer.ts'
import { previousTally } from './previousVersion.ts'
import { startRequests } from './requests.ts'

const tally = useTally({ projectors: 0, queries: 0, partitions: 4, migrated: false })

/** Starts a process of the previous version. */
async function start(executable: string, command: 'projector' | 'query') {
  const process = startProcess([command], tally.settings, executable)
  onTestFinished(() => void process.end())
  return { process, ...(await process.started()) }
}

async function startNewQuery() {
  const query = await tally.startQuery()
  tally.queries.push(query)
  return query
}

const assigned = (process: TallyProcess) =>
  process.line(({ msg, partitions }) => msg === 'partitions assigned' && Number(partitions) > 0)

/** Sends records, 400 a second, until `finish` is called. */
function startProducing(records: TestRecord[]) {
  let sent = 0
  const timer = setInterval(() => {
    const piece = records.slice(sent, sent + 20)
    sent += piece.length
    producing = producing.then(() => tally.produce(piece))
  }, 50)
  let producing = Promise.resolve()
  return {
    sent: () => sent,
    /** Sends the rest at once; resolves with the number of records that were sent before. */
    async finish(): Promise<number> {
      clearInterval(timer)
      await producing
      await tally.produce(records.slice(sent))
      return sent
    },
  }
}

test('an upgrade from the previous version under load is exact and fails no request', async ({ skip }) => {
  const previous = await previousTally()
  if (previous === undefined) return skip('the previous version is not in the history of this clone')
  const old = (command: string[]) => runTally(command, tally.settings, '', previous)
  expect(await old(['migrate'])).toMatchObject({ code: 0 })
  const { festivals, records } = season(7, { events: 4, orders: 250, isPlain: true })
  const isSale = ({ type }: TestRecord) => type === 'orders' || type === 'refunds'
  const sales = records.filter(isSale)
  const [{ organizationId }] = festivals as [(typeof festivals)[number]]
  const mine = festivals.filter(festival => festival.organizationId === organizationId)
  await tally.produce(records.filter(record => !isSale(record)))
  const [oldProjectors, oldQueries] = await Promise.all([
    Promise.all([start(previous, 'projector'), start(previous, 'projector')]),
    Promise.all([start(previous, 'query'), start(previous, 'query')]),
  ])
  await tally.settle()
  const account = await accountOf(previous, tally, organizationId)
  const create = `keys create --organization ${organizationId} --name k --json`
  const scopes = ['--scope', 'events:read', '--scope', 'analytics:read']
  const { token } = JSON.parse((await old([...create.split(' '), ...scopes])).stdout)
  const balancer = openBalancer(250)
  onTestFinished(balancer.close)
  await Promise.all(oldQueries.map(balancer.add))
  const paths = mine.flatMap(({ path }) => [path, `${path}/analytics/kpis`, `${path}/live/item-counts`])
  const requests = startRequests(balancer, { rate: 100, paths, token })
  const producing = startProducing(sales)

  expect(await runTally(['migrate'], tally.settings)).toMatchObject({ code: 0 })
  await Promise.all([startNewQuery().then(balancer.add), tally.startProjector().then(assigned)])
  const bothFrom = producing.sent()
  await until(
    'both versions count side by side',
    () => producing.sent() > Math.min(bothFrom + 100, sales.length - 1),
  )
  for (const query of oldQueries) {
    // As an operator does by hand before it stops.
    balancer.remove(query)
    expect(await query.process.end('SIGTERM')).toBe(0)
  }
  for (const { process } of oldProjectors) expect(await process.end('SIGTERM')).toBe(0)
  expect(await runTally(['migrate', '--contract'], tally.settings)).toMatchObject({ code: 0 })
  await expectKept(account, tally)

  const during = await producing.finish()
  await tally.settle()
  const { sent } = await requests.stop()
  console.info(`${during} records and ${sent} requests during the upgrade`)
  expect(requests.failures).toEqual([])
  await expectSeason(tally, festivals, records)
  expect(await runTally(['verify'], tally.settings)).toMatchObject({ code: 0 })
}, 600_000)
