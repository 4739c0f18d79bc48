import { isFirstReport } from '../batches/entries.ts'
import type { FetchedBatch } from '../batches/fetchedBatch.ts'
import { readParts } from '../batches/readParts.ts'
import type { RecordBatch } from '../types.ts'

/**
 * The parts (see readParts) of one fetch from `from` on; of none if `fetch` returns undefined, because the log no
 * longer holds the offset. A batch that cannot be decoded is fetched again; throws UndecodableBatchError if it still
 * cannot be.
 */
export async function* fetchParts(
  fetch: (from: number) => Promise<FetchedBatch | undefined>,
  from: number,
): AsyncGenerator<RecordBatch, void> {
  let suspected: number | undefined
  for (let next = from; ; ) {
    const fetched = await fetch(next)
    if (fetched === undefined) return
    try {
      for await (const part of readParts(fetched)) {
        yield part
        next = part.next
      }
      return
    } catch (error) {
      if (!isFirstReport(error, suspected)) throw error
      suspected = error.from
    }
  }
}
