import { heldBack, partitionsOf } from '@tally/kafka'
import { type DoctorFinding, fail, ok, skip, warn } from './check.ts'
import type { KafkaDeps } from './kafka.ts'

/** As asOf.ts: figures this old are a failure. */
const failsAfterMs = 30_000

/** Whether another producer's transaction holds back a topic that is read. */
export async function checkTransactions({ kafka, names, topics }: KafkaDeps): Promise<DoctorFinding> {
  const { deadLetters: _, ...read } = names
  const partitions = partitionsOf(
    Object.values(read).map(topic => [topic, topics.get(topic)?.partitions ?? 0]),
  )
  if (partitions.length === 0) return skip('not checked: see topics')
  const [first, ...others] = await heldBack(kafka, partitions)
  if (first === undefined) return ok('none holds back a partition')
  const more = others.length === 0 ? '' : `; so do ${others.length} more`
  const judge = first.quietMs < failsAfterMs ? warn : fail
  return judge(
    `${first.found}${more}`,
    `end that producer; if it is gone, give up its transaction: ${first.command} (docs/runbook.md, TallyShardStandsStill)`,
  )
}
