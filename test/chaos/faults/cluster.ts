import type { Random } from '@tally/testkit/random'
import { until } from '@tally/testkit/until'
import { type Fault, type FaultTools, sleepBetween } from '../run/fault.ts'
import { appliedOffsets, missingIn } from '../system/appliedOffsets.ts'
import type { ClusterSystem } from '../system/clusterSystem.ts'

/** The loss of a machine: half of them come back under load, others before the next fault. All is right meanwhile. */
type Loss = (system: ClusterSystem, random: Random, tools: FaultTools) => Promise<void>

/** Kills a broker, or cuts it off: its connections stay open, and nothing answers. */
const loseBroker =
  (signal: 'SIGKILL' | 'SIGSTOP'): Loss =>
  async ({ cluster }, random) => {
    const node = random.of(cluster.brokers.nodes)
    await node.kill(signal)
    await sleepBetween(random, 1_000, 12_000)
    if (random.chance(0.5)) await (signal === 'SIGSTOP' ? node.kill('SIGCONT') : node.start())
  }

/** Kills a Redis master; the replica that takes over lacks its last writes. */
const loseMaster: Loss = async ({ cluster: { redis } }, random) => {
  const master = random.of(await redis.masters())
  await redis.stopReplication(master)
  await sleepBetween(random, 200, 3_000)
  await redis.failOver(master)
  if (random.chance(0.5)) await redis.repair()
}

/** Kills the primary and promotes the standby, as a platform does, and points PgBouncer to it. */
async function failOver({ cluster: { postgres, pooler } }: ClusterSystem, random: Random): Promise<void> {
  await postgres.primary.kill('SIGKILL')
  await sleepBetween(random, 100, 3_000)
  await postgres.promote()
  pooler.pointTo(postgres.primary.url)
  if (random.chance(0.5)) await postgres.repair()
}

/** The standby lacks the primary's last commits. */
const losePrimary: Loss = async (system, random) => {
  const { postgres } = system.cluster
  await postgres.stopStreaming()
  const isAhead = async () =>
    missingIn(await appliedOffsets(postgres.standby), await appliedOffsets(postgres.primary)) > 0
  await until('the primary has commits that the standby lacks', isAhead)
  await sleepBetween(random, 0, 1_000)
  await failOver(system, random)
}

/** The standby has each commit that anybody has seen. */
const loseSynchronousPrimary: Loss = async (system, random, { wrongs }) => {
  const { postgres } = system.cluster
  await sleepBetween(random, 0, 1_000)
  const before = await appliedOffsets(postgres.primary)
  await failOver(system, random)
  const lost = missingIn(await appliedOffsets(postgres.primary), before)
  if (lost > 0) wrongs.add('a synchronous standby has every commit', `${lost} records are missing`)
}

const prepare = (system: ClusterSystem) => system.repair()

async function prepareSynchronous(system: ClusterSystem): Promise<void> {
  await system.repair()
  await system.cluster.postgres.setSynchronous(true)
}

const concurrently =
  (...losses: Loss[]): Loss =>
  async (...given) =>
    void (await Promise.all(losses.map(lose => lose(...given))))

/** Faults of `npm run test:chaos -- --cluster`. */
export const clusterFaults: Fault<ClusterSystem>[] = [
  { name: 'a broker killed', allows: 'everything', prepare, run: loseBroker('SIGKILL') },
  { name: 'a broker cut off', allows: 'everything', prepare, run: loseBroker('SIGSTOP') },
  { name: 'a Redis master killed, its last writes lost', allows: 'everything', prepare, run: loseMaster },
  {
    name: 'the primary killed, an asynchronous standby promoted',
    allows: 'no-orders',
    mayGoBack: true,
    prepare,
    run: losePrimary,
  },
  {
    name: 'the primary killed, a synchronous standby promoted',
    allows: 'no-orders',
    prepare: prepareSynchronous,
    run: loseSynchronousPrimary,
  },
  {
    name: 'PgBouncer restarted',
    allows: 'no-orders',
    prepare,
    run: ({ cluster }, random) => cluster.pooler.restart(random.whole(0, 3_000)),
  },
  {
    name: 'broker, Redis master and primary at once, asynchronous standby',
    allows: 'nothing',
    mayGoBack: true,
    prepare,
    run: concurrently(loseBroker('SIGKILL'), loseMaster, losePrimary),
  },
  {
    name: 'broker, Redis master and primary at once, synchronous standby',
    allows: 'nothing',
    prepare: prepareSynchronous,
    run: concurrently(loseBroker('SIGSTOP'), loseMaster, loseSynchronousPrimary),
  },
]
