import type { ReadModelRedis, Texts } from '@tally/publication'
import DataLoader from 'dataloader'

/** Reads documents and fields of an event, all of one revision; rejects if its hash cannot be read. */
type TextReads = (key: string, ...names: string[]) => Promise<Texts>

/** Nothing else is answered while Redis reads so many: usual documents take 0.1 ms each, those of 2,000 items 3 ms. */
const mostEvents = 8

/**
 * Returns the function that reads documents. On one node, reads that begin together are one command: the polls of a
 * request batch, or the live screens, whose events have changed all begin to read when their versions are known.
 */
export function createTexts(redis: ReadModelRedis): TextReads {
  const readAll = async (wanted: readonly { key: string; names: string[] }[]): Promise<(Texts | Error)[]> => {
    const replies = await redis.readDocumentsOfEach(
      wanted.length,
      ...wanted.map(({ key }) => key),
      ...wanted.flatMap(({ names }) => [names.length, ...names]),
    )
    return replies.map(reply => (typeof reply === 'string' ? new Error(reply) : reply))
  }
  const ofNode = new DataLoader(readAll, { cache: false, maxBatchSize: mostEvents })
  // Whether it is a cluster is not known before Redis has answered.
  return (key, ...names) => (redis.isCluster ? redis.hmget(key, ...names) : ofNode.load({ key, names }))
}
