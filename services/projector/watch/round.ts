import type { HeadRevision } from '@tally/publication'

/**
 * Events per step: as many as a round of about 50 steps (20 s) needs, counted in the round before. The limit of 2,000
 * makes a round longer than 60 s from 300,000 events on.
 */
const pageSizes = { first: 500, least: 20, most: 2_000 }
const stepsPerRound = 50

/** An event or organization with its revision in Postgres and in Redis. */
export type Compared<Id = string> = {
  id: Id
  /** In Postgres. */
  revision: number
  /** In Redis, -1 for none; or the revision that the shard's hash notes as published, if that is above `revision`. */
  published: number
}

/** The revision of a hash in Redis, and the one that its shard's hash notes as published; null for none. */
export type FoundRevision = { published: string | null; noted: string | null }

/**
 * Compares all heads of some shards with Redis, a page per step, and begins again at the end. A step returns the
 * confirmed differences: those that it finds on a page twice, in consecutive steps, with the same revision in Redis. A
 * page is read twice at most, because some of its events may change all the time, and are about to be published
 * whenever it is read. The step that reads a page for the second time continues with the next page, so that busy events
 * do not delay a round.
 */
export function createRound<Head extends HeadRevision<string>>(
  readPage: (shards: number[], after: Head | undefined, limit: number) => Promise<Head[]>,
  readRedis: (head: Head) => Promise<FoundRevision>,
) {
  const round = {
    after: undefined as Head | undefined,
    suspects: new Map<string, number>(),
    pageSize: pageSizes.first,
    walked: 0,
  }

  const compare = async (head: Head): Promise<Compared<Head['id']>> => {
    const { published, noted } = await readRedis(head)
    const { id, revision } = head
    return { id, revision, published: Math.max(Number(published ?? -1), aboveOr(revision, noted)) }
  }

  const endRound = (): void => {
    const { least, most } = pageSizes
    round.pageSize = Math.min(most, Math.max(least, Math.ceil(round.walked / stepsPerRound)))
    round.walked = 0
  }

  const comparePage = async (shards: number[]): Promise<Compared<Head['id']>[]> => {
    if (shards.length === 0) return []
    const page = await readPage(shards, round.after, round.pageSize)
    const found = await Promise.all(page.map(compare))
    const differing = found.filter(({ revision, published }) => published !== revision)
    const confirmed = differing.filter(({ id, published }) => round.suspects.get(id) === published)
    const fresh = differing.filter(found => !confirmed.includes(found))
    round.suspects = new Map(round.suspects.size > 0 ? [] : fresh.map(({ id, published }) => [id, published]))
    if (round.suspects.size > 0) return confirmed
    round.walked += page.length
    round.after = page.length === round.pageSize ? page.at(-1) : undefined
    if (round.after === undefined) endRound()
    return confirmed
  }

  return async (shards: number[]): Promise<Compared<Head['id']>[]> => {
    const isSecond = round.suspects.size > 0
    const confirmed = await comparePage(shards)
    return isSecond ? [...confirmed, ...(await comparePage(shards))] : confirmed
  }
}

/** The noted revision, if above `revision`: Postgres has lost it. A lower one means nothing: a hash can go back too. */
const aboveOr = (revision: number, noted: string | null): number =>
  Number(noted ?? -1) > revision ? Number(noted) : -1
