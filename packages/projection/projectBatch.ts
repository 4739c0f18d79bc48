import type { RecordType, Rejected } from '@tally/contract'
import type { RecordBatch } from '@tally/kafka'
import type { GroupCommit } from './groupCommit.ts'
import { judgeBatch } from './judge/judgeBatch.ts'
import { type Projected, projectJudged, type TransactionDeps } from './projectJudged.ts'

/** Without `groups`, each batch has a transaction of its own. */
export type ProjectorDeps = TransactionDeps & { groups?: GroupCommit }

/**
 * Projects one batch of one partition, exactly once: judges each record, and applies the good ones in one transaction
 * (projectJudged.ts), which small batches share (groupCommit.ts). With a verdict, all records are rejected.
 */
export async function projectBatch(
  deps: ProjectorDeps,
  type: RecordType,
  batch: RecordBatch,
  verdict?: Rejected,
): Promise<Projected> {
  const judged = judgeBatch(type, batch, { onInternal: deps.onInternal, verdict })
  if (deps.groups !== undefined) return deps.groups.project(type, judged)
  const [projected] = await projectJudged(deps, type, [judged])
  return projected as Projected
}
