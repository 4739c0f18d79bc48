import { inside, partitionOf, topicNames } from '@tally/kafka'
import { tally as command, parsedLines } from '@tally/testkit/processes/command'
import type { TallyProcess } from '@tally/testkit/processes/process'
import { type Options, startTally } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { deleteBefore } from '@tally/testkit/servers/kafka'
import { succeeds, until } from '@tally/testkit/until'

const partitions = 2

/** Tally with topics of its own, whose logs the test may truncate, delete and create again. */
export async function openLogFixture(
  onTestFinished: (end: () => Promise<void>) => void,
  options: Options = {},
) {
  const tally = await startTally({ partitions, projectors: 1, queries: 1, ...options })
  onTestFinished(() => tally.stop())
  const { kafka } = tally
  const names = topicNames(tally.settings.TOPIC_PREFIX ?? '')
  const { admin } = inside(kafka)
  const tokens = new Map<string, string>()

  return {
    tally,
    kafka,
    names,
    command: (...args: string[]) => command(args, tally.settings),
    /** Deletes the records before an offset, as retention does. */
    deleteBefore: (topic: string, partition: number, offset: number) =>
      deleteBefore(kafka, { topic, partition, offset }),
    deleteTopic: (topic: string) => admin.use(one => one.deleteTopics({ topics: [topic] })),
    async createTopic(topic: string): Promise<void> {
      const wanted = [{ topic, numPartitions: partitions, replicationFactor: 1 }]
      await until('the topic is there', () =>
        succeeds(admin.use(one => one.createTopics({ topics: wanted }))),
      )
    },
    /** The line of `tally offsets --json` for one partition. */
    async listed(topic: string, partition: number) {
      const { code, stdout, stderr } = await command(['offsets', '--json'], tally.settings)
      if (code !== 0) throw new Error(stderr)
      const all: { topic: string; partition: number }[] = parsedLines(stdout)
      return all.find(one => one.topic === topic && one.partition === partition)
    },
    /** How many orders of a festival are counted; 0 while Tally does not know it. */
    async counted(festival: Festival): Promise<number> {
      const { organizationId, path } = festival
      const token = tokens.get(organizationId) ?? (await tally.key(organizationId).catch(() => undefined))
      if (token === undefined) return 0
      tokens.set(organizationId, token)
      const { status, body } = await tally.get(`${path}/analytics/kpis`, { token })
      return status === 200 ? body.data.totalOrders : 0
    },
    /** A festival whose records are in this partition. */
    async festivalIn(partition: number): Promise<Festival> {
      const festival = festivalOf(partition, partitions)
      await tally.produce([festival.organization(), festival.event()])
      return festival
    },
  }
}
export type LogFixture = Awaited<ReturnType<typeof openLogFixture>>
export type Festival = ReturnType<typeof newFestival>

/** A new festival whose records are in this one of so many partitions. */
export function festivalOf(partition: number, count: number): Festival {
  const festival = newFestival()
  return partitionOf(Buffer.from(festival.eventId), count) === partition
    ? festival
    : festivalOf(partition, count)
}

/** What is missing according to a projector's `/readyz`; undefined if it is ready. */
export async function missingOf(projector: TallyProcess | undefined): Promise<string | undefined> {
  const answer = await fetch(`${(await projector?.started())?.ops}/readyz`)
  return answer.ok ? undefined : ((await answer.json()) as { missing: string }).missing
}

export async function metricsOf(projector: TallyProcess | undefined): Promise<string> {
  return (await fetch(`${(await projector?.started())?.ops}/metrics`)).text()
}
