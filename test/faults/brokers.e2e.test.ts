import { setTimeout as sleep } from 'node:timers/promises'
import { countBrokers, inside, type KafkaConnection, logEnds, topicNames } from '@tally/kafka'
import { startTally, type Tally } from '@tally/testkit/processes/tally'
import { connectForTest } from '@tally/testkit/servers/kafka'
import { succeeds, until } from '@tally/testkit/until'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { type Brokers, brokerSessionMs, startBrokers } from '../cluster/kafkaBrokers.ts'
import { festivalOf, missingOf } from './support/logFixture.ts'

/** docs/reliability.md, Kafka: one of three brokers dies, or is cut off. */
const partitions = 3
let brokers: Brokers
let tally: Tally

beforeAll(async () => {
  brokers = await startBrokers()
  tally = await startTally({ brokers: brokers.urls, partitions, projectors: 1, makeTopics })
}, 600_000)
afterAll(async () => {
  for (const node of brokers?.nodes ?? []) await node.kill('SIGCONT')
  await tally?.stop()
  await brokers?.stop()
})

/** Node n + 1 leads partition n of each topic. */
async function makeTopics(connection: KafkaConnection, prefix: string): Promise<void> {
  const { organizations, deadLetters, ...others } = topicNames(prefix)
  const topics = [
    ...[organizations, deadLetters].map(topic => ({ topic, count: 1 })),
    ...Object.values(others).map(topic => ({ topic, count: partitions })),
  ].map(({ topic, count }) => ({
    topic,
    numPartitions: -1,
    replicationFactor: -1,
    replicaAssignment: Array.from({ length: count }, (_, partition) => ({
      partition,
      replicas: [0, 1, 2].map(next => ((partition + next) % 3) + 1),
    })),
  }))
  const isMade = () => succeeds(inside(connection).admin.use(admin => admin.createTopics({ topics })))
  await until('three brokers are in service and have the topics', isMade)
}

/** The orders topic's partitions with their leader and the replicas that are in sync. */
async function ordersNow() {
  const topic = topicNames(tally.settings.TOPIC_PREFIX ?? '').orders
  const { topics } = await inside(tally.kafka).admin.use(admin =>
    admin.fetchTopicMetadata({ topics: [topic] }),
  )
  return topics[0]?.partitions ?? []
}

async function coordinator(): Promise<number> {
  const of = { groupId: tally.settings.KAFKA_GROUP_ID, coordinatorType: 0 }
  type Finds = { findGroupCoordinatorMetadata(of: object): Promise<{ coordinator: { nodeId: number } }> }
  const found = await inside(tally.kafka).cluster.use([], cluster =>
    (cluster as unknown as Finds).findGroupCoordinatorMetadata(of),
  )
  return found.coordinator.nodeId
}

const text = ({ usualMs, delayMs, asOfAgeMs }: ReturnType<typeof figures>) =>
  `${delayMs} ms late (${usualMs} ms before), asOf ${asOfAgeMs} ms old`

type Answer = { atMs: number; orders: number; asOfMs: number }

/** Sends orders of a festival, each with one in each partition of `others`, and asks for its figures, until `stop`. */
async function watchFestival(partition: number, others: number[] = []) {
  const festival = festivalOf(partition, partitions)
  const festivals = [...others.map(other => festivalOf(other, partitions)), festival]
  await tally.count([festival.organization(), festival.event(), festival.order()])
  const token = await tally.key(festival.organizationId)
  const ask = async (): Promise<Answer> => {
    const { status, body } = await tally.get(`${festival.path}/analytics/kpis`, { token })
    expect(status).toBe(200)
    return { atMs: Date.now(), orders: body.data.totalOrders, asOfMs: Date.parse(body.meta.asOf) }
  }
  const acknowledged = [Date.now()]
  const answers: Answer[] = []
  let isStopped = false
  onTestFinished(() => {
    isStopped = true
  })
  const repeat = async (work: () => Promise<void>) => {
    while (!isStopped) {
      await work()
      await sleep(20)
    }
  }
  const sends = repeat(async () => {
    const orders = festivals.map(festival => festival.order())
    await until('the orders are acknowledged', () => succeeds(tally.produce(orders)))
    acknowledged.push(Date.now())
  })
  const asks = repeat(async () => void answers.push(await ask()))
  return {
    ask,
    acknowledged,
    /** Stops and waits until the last order is counted; the fault was at `lostMs`. */
    async stop(lostMs: number) {
      isStopped = true
      await sends
      await tally.settle()
      answers.push(await ask())
      await asks
      expect(answers.at(-1)?.orders, 'each order counts once').toBe(acknowledged.length)
      return figures(acknowledged, answers, lostMs)
    },
  }
}

/**
 * In ms: how late the answers held an acknowledged order, and how old their asOf was; each at its worst. `usualMs` is
 * how late they were before the fault, which tells how busy this machine is.
 */
function figures(acknowledged: number[], answers: Answer[], lostMs: number) {
  for (const { orders, asOfMs } of answers) {
    const before = acknowledged.filter(atMs => atMs <= asOfMs).length
    expect(orders, 'asOf claims only what is counted').toBeGreaterThanOrEqual(before)
  }
  const delays = acknowledged.map((atMs, index) => {
    const answered = answers.find(({ orders }) => orders > index)
    return (answered?.atMs ?? Number.POSITIVE_INFINITY) - atMs
  })
  return {
    usualMs: Math.max(...delays.filter((delayMs, index) => (acknowledged[index] ?? 0) + delayMs < lostMs)),
    delayMs: Math.max(...delays),
    asOfAgeMs: Math.max(...answers.map(({ atMs, asOfMs }) => atMs - asOfMs)),
  }
}

/**
 * Without the broker, Kafka needs its session time-out, and up to 3 s for the election of a controller, to name other
 * leaders. Tally then needs at most 4 s to give up a request, 5 s until it reads the metadata again, and 2 s to go on.
 * On a very busy machine each of about twenty steps takes as long as an order took from its acknowledgement to an
 * answer before the fault (`usualMs`).
 */
const boundMs = (usualMs: number) => brokerSessionMs + 3_000 + 4_000 + 5_000 + Math.max(2_000, 20 * usualMs)
/**
 * Partitions of other leaders wait for one request to the silent broker at most (4 s), and for the reads to start again
 * (1 s); twice that on a machine that is a little busy, and more on a very busy one, as above.
 */
const othersMs = (usualMs: number) => Math.max(2 * (4_000 + 1_000), 4_000 + 1_000 + 20 * usualMs)

test.each([
  { how: 'is cut off with its connections open', signal: 'SIGSTOP' },
  { how: 'is killed', signal: 'SIGKILL' },
] as const)(
  'one of three brokers $how: orders are late by seconds, those of other leaders by less',
  {
    timeout: 600_000,
  },
  async ({ how, signal }) => {
    const lost = await coordinator()
    const node = brokers.nodes[lost - 1]
    const leaders = await ordersNow()
    const partitionLedBy = (isLost: boolean) =>
      leaders.find(({ leader }) => (leader === lost) === isLost)?.partitionId ?? Number.NaN
    const ofLost = await watchFestival(
      partitionLedBy(true),
      leaders.filter(({ leader }) => leader !== lost).map(({ partitionId }) => partitionId),
    )
    const ofOther = await watchFestival(partitionLedBy(false))

    for (const { ask } of [ofLost, ofOther])
      await until('orders are counted as usual', async () => (await ask()).orders > 40)
    await node?.kill(signal)
    const lostMs = Date.now()
    await until('other brokers lead all partitions', async () =>
      (await ordersNow()).every(({ leader }) => leader !== lost),
    )
    for (const { acknowledged, ask } of [ofLost, ofOther]) {
      const sent = acknowledged.length
      await until('orders are acknowledged again', () => acknowledged.length > sent + 20)
      await until('they are counted', async () => (await ask()).orders > sent + 20)
    }
    await until('asOf of both advances', async () => {
      const both = [await ofLost.ask(), await ofOther.ask()]
      return both.every(({ asOfMs }) => asOfMs > lostMs + brokerSessionMs)
    })
    if (signal === 'SIGSTOP') await node?.kill('SIGCONT')
    else await node?.start()
    await until('all replicas are in sync', async () =>
      (await ordersNow()).every(({ isr }) => isr.length === 3),
    )

    const [late, others] = [await ofLost.stop(lostMs), await ofOther.stop(lostMs)]
    console.info(`a broker ${how}: its orders ${text(late)}, those of others ${text(others)}`)
    expect(late.delayMs).toBeLessThan(boundMs(late.usualMs))
    expect(late.asOfAgeMs).toBeLessThan(boundMs(late.usualMs))
    expect(others.delayMs).toBeLessThan(othersMs(others.usualMs))
    expect(others.asOfAgeMs).toBeLessThan(othersMs(others.usualMs))
    const [projector] = tally.projectors
    await until('the projector is ready', async () => (await missingOf(projector)) === undefined)
    const { deadLetters } = topicNames(tally.settings.TOPIC_PREFIX ?? '')
    const ends = await inside(tally.kafka).admin.use(admin => admin.fetchTopicOffsets(deadLetters))
    expect(ends.map(({ high }) => high)).toEqual(['0'])
  },
)

test('a partition whose only replica is lost leaves the ends of the others known', {
  timeout: 120_000,
}, async () => {
  const topic = 'one-replica'
  const of = [0, 1, 2].map(partition => ({ topic, partition }))
  const replicaAssignment = of.map(({ partition }) => ({ partition, replicas: [partition + 1] }))
  const topics = [{ topic, numPartitions: -1, replicationFactor: -1, replicaAssignment }]
  await inside(tally.kafka).admin.use(admin => admin.createTopics({ topics }))
  const partitionsOf = async (kafka: KafkaConnection) =>
    [...((await logEnds(kafka, of)).get(topic) ?? [])].length
  await until('all have ends', async () => (await partitionsOf(tally.kafka)) === 3)
  await brokers.nodes[2]?.kill('SIGKILL')
  onTestFinished(() => brokers.nodes[2]?.start())
  await until('Kafka has given up the broker', async () => (await countBrokers(tally.kafka)) === 2)
  for (const kafka of [tally.kafka, connectForTest(brokers.urls)]) expect(await partitionsOf(kafka)).toBe(2)
})
