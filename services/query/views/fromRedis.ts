import type { EventId } from '@tally/contract'
import {
  type DocumentName,
  earliest,
  type RedisClient,
  type RedisKeys,
  type StoredEvent,
} from '@tally/read-models'
import { Cluster } from 'ioredis'
import type { DocumentTexts } from './question.ts'

/** An event at one revision; `event` is undefined while orders of it have come but not its own record. */
export type Head = { eventId: EventId; revision: number; event: StoredEvent | undefined }

/** Which documents are needed of an event at a revision: those that its answer has yet to be made of. */
export type Needs = (event: StoredEvent, revision: number) => DocumentName[]

/** What was read: the event, the documents that were needed, and up to which moment everything is counted. */
export type Read = { head: Head; documents: DocumentTexts; asOfMs: number | null }

/** `missing`: Redis does not have it; Postgres may. */
export type RedisRead = Read | 'missing'
export type RedisSource = (eventId: EventId, needs: Needs, cached: Head | undefined) => Promise<RedisRead>

const noDocuments: DocumentTexts = new Map()

/**
 * Reads an event from its hash in Redis. A process that has answered this at the event's current revision pays
 * one round trip of two small replies (with the rate limit, pipelined); else the documents come in a second one,
 * all of one revision because one HMGET is atomic. `asOf` is always read before the documents it is said of.
 */
export function openRedisSource({
  redis,
  keys,
  topics,
}: {
  redis: RedisClient
  keys: RedisKeys
  topics: string[]
}): RedisSource {
  const asOfFields = topics.map(topic => `as-of:${topic}`)
  // One connection answers in the order asked; the nodes of a cluster do not.
  const inOrder = !(redis instanceof Cluster)

  const readAsOf = async (shard: number): Promise<number | null> => {
    const moments = await redis.hmget(keys.shard(shard), ...asOfFields)
    return earliest(moments.map(at => (typeof at === 'string' ? Number(at) : null)))
  }

  /** Reads until the documents and the event that chose them are of one version. */
  const fetch = async (
    eventId: EventId,
    needs: Needs,
    event: StoredEvent | undefined,
    asOfMs: number | null,
  ): Promise<RedisRead> => {
    const key = keys.event(eventId)
    let known = event
    let moment = asOfMs
    let names: DocumentName[] = known === undefined ? [] : needs(known, -1)
    for (let round = 0; round < 4; round++) {
      const [revision, complete, version, json, ...texts] = await redis.hmget(
        key,
        'revision',
        'complete',
        'version',
        known === undefined ? 'event' : 'version',
        ...names,
      )
      if (typeof revision !== 'string') return 'missing'
      const head = { eventId, revision: Number(revision), event: known }
      if (typeof version !== 'string') {
        return complete === '1'
          ? { head: { ...head, event: undefined }, documents: noDocuments, asOfMs: null }
          : 'missing'
      }
      if (known !== undefined && version === String(known.version)) {
        const documents = collect(names, texts, complete === '1')
        return documents === undefined ? 'missing' : { head, documents, asOfMs: moment }
      }
      if (known !== undefined) {
        known = undefined
        names = []
        continue
      }
      known = JSON.parse(json as string) as StoredEvent
      moment = await readAsOf(known.shard)
      names = needs(known, -1)
    }
    return 'missing'
  }

  return async (eventId, needs, cached) => {
    if (cached?.event === undefined) return fetch(eventId, needs, undefined, null)
    const asOf = readAsOf(cached.event.shard)
    if (!inOrder) await asOf
    const [asOfMs, revision] = await Promise.all([asOf, redis.hget(keys.event(eventId), 'revision')])
    if (revision === null) return 'missing'
    if (Number(revision) === cached.revision && needs(cached.event, cached.revision).length === 0) {
      return { head: cached, documents: noDocuments, asOfMs }
    }
    return fetch(eventId, needs, cached.event, asOfMs)
  }
}

/** Undefined where a document is not there and the hash does not say that what is not there is empty. */
function collect(
  names: DocumentName[],
  texts: (string | null)[],
  complete: boolean,
): DocumentTexts | undefined {
  const documents: DocumentTexts = new Map()
  for (const [index, name] of names.entries()) {
    const text = texts[index] ?? null
    if (text === null && !complete) return undefined
    documents.set(name, text ?? '')
  }
  return documents
}
