import { type ReadModelRedis, readDocumentsOfEach, type Texts, type WantedTexts } from '@tally/read-models'
import { Cluster } from 'ioredis'
import { gather } from '../gather.ts'
import { settleWith } from './batch.ts'
import { Waiter } from './waiter.ts'

/** Reads documents and fields of an event, all of one revision; rejects if its hash cannot be read. */
export type DocumentReads = (key: string, ...names: string[]) => Promise<Texts>
type Read = WantedTexts & { waiter: Waiter<Texts> }

/**
 * Nothing else is answered while Redis reads so many: usual documents take it 0.1 ms each, a menu of 2,000 items 3 ms.
 */
const mostEvents = 8

/**
 * Returns the function that reads documents. On one node, reads that begin together are one command: the polls of a
 * request batch whose events have changed all begin to read when the batch is answered.
 */
export function openDocumentReads(redis: ReadModelRedis): DocumentReads {
  const send = async (reads: Read[]): Promise<void> => {
    try {
      const replies = await readDocumentsOfEach(redis, reads)
      for (const [index, { waiter }] of reads.entries()) settleWith(waiter, replies[index] as Texts | Error)
    } catch (error) {
      for (const { waiter } of reads) waiter.reject(error)
    }
  }
  const begin = gather<Read>(reads => {
    for (let from = 0; from < reads.length; from += mostEvents)
      void send(reads.slice(from, from + mostEvents))
  })
  return (key, ...names) => {
    // Not known before Redis has answered.
    if (redis instanceof Cluster) return redis.hmget(key, ...names)
    const waiter = new Waiter<Texts>()
    begin({ key, names, waiter })
    return waiter.promise
  }
}
