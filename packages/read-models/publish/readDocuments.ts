import type { ReadModelRedis, Texts } from './scripts.ts'

/** The key of an event's hash, and the names of documents and fields in it. */
export type WantedTexts = { key: string; names: string[] }

/**
 * Reads documents and fields of events in one command: for each event its texts in the order of their names, all of one
 * revision, or an error if its hash cannot be read. All keys must be on one node.
 */
export async function readDocumentsOfEach(
  redis: ReadModelRedis,
  wanted: WantedTexts[],
): Promise<(Texts | Error)[]> {
  const replies = await redis.readDocumentsOfEach(
    wanted.length,
    ...wanted.map(({ key }) => key),
    ...wanted.flatMap(({ names }) => [names.length, ...names]),
  )
  return replies.map(reply => (typeof reply === 'string' ? new Error(reply) : reply))
}
