import { setImmediate } from 'node:timers/promises'
import { deadline } from '@tally/platform'
import type { Projected } from './effects.ts'
import type { Judged } from './judge/judgeBatch.ts'

/** A larger batch costs so much that a transaction of its own makes no difference. */
const small = { records: 100, bytes: 256 * 1024 }
/** The next shared transaction waits no longer than this for the one before: its connection may hang. */
const commitWaitMs = 300
/** How long a partition commits alone after a failure, a rejected record or a wait for a lock. */
const apartMs = 5_000

/**
 * Group commit: small batches of orders of several partitions share a transaction (docs/decisions/0019). While one is
 * in progress, those that arrive wait for the next one.
 */
export type GroupCommit = {
  /** Projects a batch, in a shared transaction or in one of its own. Throws what its own transaction throws. */
  project(judged: Judged): Promise<Projected>
}

type GroupCommitDeps = {
  /** Applies batches in one transaction. */
  project(judged: Judged[], options?: { lockTimeoutMs: number }): Promise<Projected[]>
  /** How many batches share a transaction at most. */
  most: number
  /** How long a shared transaction waits for each lock, in milliseconds. */
  lockTimeoutMs?: number
  /** Called with the error of a shared transaction; its batches then have transactions of their own. */
  onFailed(error: unknown, batches: number): void
}

type Waiting = { judged: Judged; resolve: (projected: Projected | undefined) => void }

/**
 * The problem of one partition must not become that of all (docs/architecture.md, invariant 8): if a shared transaction
 * fails, or would wait for a lock, each of its batches has one of its own, and the partition that fails or waits there
 * as well stays apart for a while.
 */
export function createGroupCommit({
  project,
  most,
  lockTimeoutMs = 100,
  onFailed,
}: GroupCommitDeps): GroupCommit {
  let waiting: Waiting[] = []
  let isRunning = false
  /** Until when partitions stay apart. */
  const apart = new Map<number, number>()

  const run = async (): Promise<void> => {
    isRunning = true
    // The batches of one fetch arrive one after the other.
    for (await setImmediate(); waiting.length > 0; await setImmediate()) {
      const { taken, left } = nextGroup(waiting, most)
      waiting = left
      const turn = Promise.withResolvers<void>()
      const cancel = deadline(performance.now(), commitWaitMs, turn.resolve)
      void commitGroup(taken).then(turn.resolve)
      await turn.promise
      cancel()
    }
    isRunning = false
  }

  const commitGroup = async (group: Waiting[]): Promise<void> => {
    const judged = group.map(one => one.judged)
    const projected = await project(judged, { lockTimeoutMs }).catch((error): Projected[] => {
      onFailed(error, group.length)
      return []
    })
    for (const [index, { resolve }] of group.entries()) resolve(projected[index])
  }

  const share = (judged: Judged): Promise<Projected | undefined> =>
    new Promise(resolve => {
      waiting.push({ judged, resolve })
      if (!isRunning) void run()
    })

  const projectOne = async (judged: Judged): Promise<Projected> => {
    const [projected] = await project([judged])
    return projected as Projected
  }

  /** Projects a small batch by itself; its partition stays apart if there is a problem. */
  const projectAlone = async (judged: Judged): Promise<Projected> => {
    const { partition } = judged.batch
    const began = performance.now()
    let isFine = false
    try {
      const projected = await projectOne(judged)
      const hasRejected = (projected.effects?.rejected.length ?? 0) > 0
      isFine = !hasRejected && performance.now() - began <= lockTimeoutMs
      return projected
    } finally {
      if (!isFine) apart.set(partition, performance.now() + apartMs)
    }
  }

  return {
    async project(judged) {
      if (!isSmall(judged)) return projectOne(judged)
      const isApart = performance.now() < (apart.get(judged.batch.partition) ?? 0)
      return (isApart ? undefined : await share(judged)) ?? projectAlone(judged)
    },
  }
}

/** At most one batch of each partition: when the consumer was replaced, one of the previous may still wait here. */
function nextGroup(waiting: Waiting[], most: number): { taken: Waiting[]; left: Waiting[] } {
  const partitions = new Set<number>()
  const [taken, left]: [Waiting[], Waiting[]] = [[], []]
  for (const one of waiting) {
    const { partition } = one.judged.batch
    if (partitions.has(partition) || taken.length === most) left.push(one)
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
