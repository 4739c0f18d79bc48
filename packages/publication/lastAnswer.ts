/** The last answer about an event: its revision, its watermark, and the epoch of the watermark. */
export type LastAnswer = { revision: number; asOfMs: number | null; epoch: number }

/** The version of a read; `epochs` are those of the documents and of the watermark. */
export type ReadVersion = {
  revision: number
  asOfMs: number | null
  epochs: { documents: number; asOf: number }
}

/** Whether a read of Redis is older than the last answer; the caller then reads from Postgres. */
export const isBehind = (last: LastAnswer | undefined, read: ReadVersion): boolean =>
  last !== undefined &&
  !holdsAll(last, read) &&
  (read.revision < last.revision || (read.asOfMs ?? 0) < (last.asOfMs ?? 0))

/**
 * The next answer from a read of Redis: with its own watermark, or with the last one if the documents are at least as
 * new as then and Postgres lost no commits in between.
 */
export function nextAnswer(
  last: LastAnswer | undefined,
  { revision, asOfMs, epochs }: ReadVersion,
): LastAnswer {
  const isLater = last === undefined || (asOfMs ?? 0) >= (last.asOfMs ?? 0)
  return isLater || !holdsAll(last, { revision, asOfMs, epochs })
    ? { revision, asOfMs, epoch: epochs.asOf }
    : { ...last, revision }
}

/** Whether the documents hold everything that they held in the last answer. */
const holdsAll = (last: LastAnswer, { revision, epochs }: ReadVersion): boolean =>
  revision >= last.revision && epochs.documents <= last.epoch
