import { setImmediate } from 'node:timers/promises'
import type { RecordType } from '@tally/contract'
import type { Judged } from './judge.ts'
import type { Projected } from './projectJudged.ts'

/** A larger batch costs so much that a transaction of its own makes no difference. */
const small = { records: 100, bytes: 256 * 1024 }

/**
 * Group commit: small batches of orders of several partitions share a transaction. While one is in progress, those that
 * arrive wait for the next one.
 */
export type GroupCommit = {
  /** Undefined if the batch has to have a transaction of its own. */
  share(type: RecordType, judged: Judged): Promise<Projected | undefined>
}

type Waiting = { judged: Judged; resolve: (projected: Projected | undefined) => void }

/**
 * `project` applies batches of orders in one transaction, and throws if that would have to wait for a lock. If it
 * fails, each of the batches has a transaction of its own, so that the problem of one does not become that of all.
 */
export function openGroupCommit(project: (judged: Judged[]) => Promise<Projected[]>): GroupCommit {
  let waiting: Waiting[] = []
  let isRunning = false

  const run = async (): Promise<void> => {
    isRunning = true
    // The batches of one fetch arrive one after the other.
    for (await setImmediate(); waiting.length > 0; await setImmediate()) {
      const { taken, left } = firstOfEachPartition(waiting)
      waiting = left
      const projected = await project(taken.map(({ judged }) => judged)).catch(() => [])
      for (const [index, { resolve }] of taken.entries()) resolve(projected[index])
    }
    isRunning = false
  }

  return {
    share(type, judged) {
      if (type !== 'orders' || !isSmall(judged)) return Promise.resolve(undefined)
      return new Promise(resolve => {
        waiting.push({ judged, resolve })
        if (!isRunning) void run()
      })
    },
  }
}

/** After the consumer began anew, a partition may have a batch here that the one before left behind. */
function firstOfEachPartition(waiting: Waiting[]): { taken: Waiting[]; left: Waiting[] } {
  const partitions = new Set<number>()
  const [taken, left]: [Waiting[], Waiting[]] = [[], []]
  for (const one of waiting) {
    const { partition } = one.judged.batch
    if (partitions.has(partition)) left.push(one)
    else taken.push(one)
    partitions.add(partition)
  }
  return { taken, left }
}

function isSmall({ batch: { records }, rejected }: Judged): boolean {
  if (rejected.length > 0 || records.length > small.records) return false
  let bytes = 0
  for (const { value } of records) bytes += value?.length ?? 0
  return bytes <= small.bytes
}
