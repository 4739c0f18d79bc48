import type { EventId, OrganizationId } from '@tally/contract'
import {
  type CounterChanges,
  documentsOf,
  type EventHead,
  emptyDocument,
  readEventHeads,
  readIsQuiet,
  versionOf,
  views,
} from '@tally/figures'
import { inSnapshot, type Tx } from '@tally/platform'
import { complete, composeOrganization } from '@tally/publication'
import type { RepairDeps } from '../deps.ts'
import { counterFindings, type Difference, type Finding, recountEvent } from '../recount.ts'
import {
  type Convergence,
  convergeWithRedis,
  type PublishedHash,
  shortReachMs,
  usualReachMs,
} from './converge.ts'
import { countEvents, eventIds, organizationIds, unknownInRedis } from './known.ts'

type VerifyOptions = {
  onDifference: (difference: Difference) => void
  /** Events compared so far, and all that there were at the beginning. */
  onProgress: (done: number, all: number) => void
}

/** `timedOut`: events and organizations that changed so fast that their documents in Redis could not be compared. */
type Verified = { events: number; differences: number; timedOut: number }

/**
 * Counts everything again from the stored orders and refunds and compares it with the counters and with every
 * document in Redis, event by event, at one revision each (docs/reference.md, Commands). Writes nothing.
 */
export async function verify(
  deps: RepairDeps,
  { onDifference, onProgress }: VerifyOptions,
): Promise<Verified> {
  const result: Verified = { events: 0, differences: 0, timedOut: 0 }
  const report = (difference: Difference) => {
    result.differences += 1
    onDifference(difference)
  }
  const ends = { 'in-sync': 0, diverged: 0, 'timed-out': 0 } satisfies Record<Convergence, number>
  const reachMs = () => (ends.diverged < 4 ? usualReachMs : shortReachMs)
  const all = await countEvents(deps.db)
  onProgress(0, all)
  for await (const eventId of eventIds(deps.db)) {
    ends[await verifyEvent(deps, eventId, report, reachMs())] += 1
    result.events += 1
    onProgress(result.events, Math.max(all, result.events))
  }
  for (const id of await organizationIds(deps.db)) {
    ends[await verifyOrganization(deps, id, report, reachMs())] += 1
  }
  const extra = { where: 'redis', what: 'its key', found: 'a hash', counted: null } as const
  for await (const ids of unknownInRedis(deps, 'event')) {
    for (const event of ids) report({ event, ...extra })
  }
  for await (const ids of unknownInRedis(deps, 'organization')) {
    for (const organization of ids) report({ organization, ...extra })
  }
  return { ...result, timedOut: ends['timed-out'] }
}

type Report = (difference: Difference) => void

/**
 * Compares the stored counters of one event with recounted ones, in one snapshot, and the documents in Redis at that
 * snapshot's revision. `timed-out`: records arrived so fast that Redis was never met at the revision of a snapshot;
 * everything else is compared then. An event of which nothing is stored has no difference, nor has Redis if the
 * documents have expired; of a removed event only Redis is compared.
 */
export async function verifyEvent(
  { db, redis, keys }: RepairDeps,
  eventId: EventId,
  report: Report,
  reachMs?: number,
): Promise<Convergence> {
  const converge = convergeWithRedis(redis, keys.event(eventId), reachMs)
  for (;;) {
    const outcome = await inSnapshot(db, async snapshot => {
      const [head] = await readEventHeads(snapshot, [eventId])
      if (head === undefined || head.revision === 0) return 'in-sync'
      const { convergence, published } = (await isExpired(snapshot, { redis, keys }, eventId))
        ? expired
        : await converge(head.revision)
      if (convergence === 'again') return 'again'
      await compare(snapshot, head, convergence === 'timed-out' ? undefined : published, finding =>
        report({ event: eventId, ...finding }),
      )
      return convergence
    })
    if (outcome !== 'again') return outcome
  }
}

const expired = { convergence: 'in-sync', published: undefined } as const

/** Whether the documents of a quiet event are not in Redis, where nothing keeps them. */
async function isExpired(
  snapshot: Tx,
  { redis, keys }: Pick<RepairDeps, 'redis' | 'keys'>,
  eventId: EventId,
): Promise<boolean> {
  return (await redis.exists(keys.event(eventId))) === 0 && readIsQuiet(snapshot, eventId, keys.quietMs)
}

async function compare(
  snapshot: Tx,
  head: EventHead,
  published: PublishedHash | undefined,
  report: (finding: Finding) => void,
): Promise<void> {
  const counted = head.isRemoved ? new Map() : await compareCounters(snapshot, head, report)
  if (published !== undefined) redisFindings(documentFields(head, counted), published).forEach(report)
}

/** Reports what differs in Postgres, and returns the recounted counters. */
async function compareCounters(
  snapshot: Tx,
  head: EventHead,
  report: (finding: Finding) => void,
): Promise<CounterChanges> {
  const { counted, stored } = await recountEvent(snapshot, head, report)
  counterFindings(counted, stored).forEach(report)
  return counted
}

/** If the revisions differ, only that is reported: every document would differ because of it. */
function redisFindings(should: Map<string, string>, published: PublishedHash): Finding[] {
  if (published === 'not-a-hash') {
    return [{ where: 'redis', what: 'its key', found: 'another type of value', counted: 'a hash' }]
  }
  const { fields } = published
  const counted = should.get('revision') ?? null
  if (fields.revision !== counted) {
    return [{ where: 'redis', what: 'revision', found: fields.revision ?? null, counted }]
  }
  return fieldFindings(should, fields)
}

/**
 * Compares an organization's status and list of events in Redis with Postgres, at one revision.
 * `timed-out`: they were never read at the same revision.
 */
async function verifyOrganization(
  { db, redis, keys }: RepairDeps,
  organization: OrganizationId,
  report: Report,
  reachMs?: number,
): Promise<Convergence> {
  const converge = convergeWithRedis(redis, keys.organization(organization), reachMs)
  for (;;) {
    const document = await composeOrganization(db, organization)
    if (document === undefined) {
      report({
        organization,
        where: 'postgres',
        what: 'its row in organizations',
        found: null,
        counted: 'a row',
      })
      return 'in-sync'
    }
    const { convergence, published } = await converge(document.revision)
    if (convergence === 'again') continue
    if (convergence === 'timed-out') return convergence
    const should = new Map([
      ['revision', String(document.revision)],
      ['events', JSON.stringify(document.events)],
      ...(document.status === undefined ? [] : [['status', document.status] as const]),
    ])
    for (const finding of redisFindings(should, published)) report({ organization, ...finding })
    return convergence
  }
}

/** The fields that Redis should have for an event, composed from counters as a publication composes them. */
export function documentFields(head: EventHead, counters: CounterChanges): Map<string, string> {
  const fields = new Map<string, string>([
    ['revision', String(head.revision)],
    ['complete', complete],
  ])
  if (head.event !== undefined) {
    fields.set('version', versionOf(head.event)).set('event', JSON.stringify(head.event))
  }
  const areas = [...counters].flatMap(([dayId, ofDay]) =>
    [...ofDay].map(([areaId, area]) => ({ dayId, areaId, ...area })),
  )
  for (const [name, text] of documentsOf(areas, head.event?.timeZone ?? null)) fields.set(name, text)
  return fields
}

/**
 * Each field that differs in Redis; a document that says "nothing sold" equals a missing one. The epoch is not
 * compared: it says when a document was composed, and one of an older epoch is as valid.
 */
function fieldFindings(should: Map<string, string>, is: Record<string, string>): Finding[] {
  const names = [...new Set([...should.keys(), ...Object.keys(is)])].filter(name => name !== 'epoch').sort()
  return names.flatMap(name => {
    const [found, counted] = [is[name], should.get(name)]
    if (found === counted || (saysNothing(name, found) && saysNothing(name, counted))) return []
    return [{ where: 'redis' as const, what: name, found: parsed(found), counted: parsed(counted) }]
  })
}

const empty: ReadonlyMap<string, string> = new Map(
  views.map(view => [view, JSON.stringify(emptyDocument[view])]),
)

function saysNothing(name: string, text: string | undefined): boolean {
  const view = /^(\w+):\d+:\d+$/.exec(name)?.[1]
  return view !== undefined && empty.has(view) && (text === undefined || text === empty.get(view))
}

function parsed(text: string | undefined): unknown {
  if (text === undefined) return null
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
