/** What was last said about an event: its revision, the watermark, and the epoch in which the watermark was told. */
export type LastAnswer = { revision: number; asOfMs: number | null; epoch: number }

/** What a read found: `epochs` are those of the documents and of the watermark. */
export type ReadVersion = {
  revision: number
  asOfMs: number | null
  epochs: { documents: number; asOf: number }
}

/** Whether a read of Redis says less than was said before: then Postgres, the truth, is asked. */
export const isBehind = (said: LastAnswer | undefined, read: ReadVersion): boolean =>
  said !== undefined &&
  !holdsAll(said, read) &&
  (read.revision < said.revision || (read.asOfMs ?? 0) < (said.asOfMs ?? 0))

/**
 * What a read of Redis allows to say: its own watermark, or the one said before if the documents are at least as new as
 * then and Postgres lost no commits in between.
 */
export function nextAnswer(
  said: LastAnswer | undefined,
  { revision, asOfMs, epochs }: ReadVersion,
): LastAnswer {
  const isLater = said === undefined || (asOfMs ?? 0) >= (said.asOfMs ?? 0)
  return isLater || !holdsAll(said, { revision, asOfMs, epochs })
    ? { revision, asOfMs, epoch: epochs.asOf }
    : { ...said, revision }
}

/** Whether the documents hold everything that they held when `said` was said. */
const holdsAll = (said: LastAnswer, { revision, epochs }: ReadVersion): boolean =>
  revision >= said.revision && epochs.documents <= said.epoch
