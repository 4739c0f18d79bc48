import type { TestRecord } from '@tally/testkit/processes/tally'
import { randomFrom } from '../../chaos/load/random.ts'
import { type Count, openCount } from './count.ts'
import { type Outgoing, outgoingOf } from './preload.ts'
import { yearOfDays } from './records.ts'
import type { Shape } from './shape.ts'
import { streamOf } from './stream.ts'

/** A calendar year's festivals, weekend after weekend. The count knows the organizations of other years' events too. */
type Year = { count: Count; records: () => Generator<Outgoing> }

type Original = { eventId: string; organizationId: string }

const ids = /"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}"/g

/**
 * Years of festivals. The events of a shape are those of one weekend; all others are copies of it under ids of their
 * own, so that the answers of millions of orders are known without a count of them all. Each organization has the same
 * weekend every year.
 */
export function openYears(shape: Shape): (year: number, weekends: number) => Year {
  const originals = new Map<string, Original>()
  const newId = (id: string, copy: string) => randomFrom(shape.seed, `${id} ${copy}`).uuid()
  const originalOf = (eventId: string): Original => {
    const known = originals.get(eventId)
    if (known === undefined) throw new Error(`no year has the event ${eventId}`)
    return known
  }

  return (year, weekends) => {
    const count = openCount()
    const weekend: Outgoing[] = []
    for (const record of streamOf(shape)) {
      const moved = inYear(record, year)
      count.add(moved)
      weekend.push(outgoingOf(moved))
    }
    const copies = Array.from({ length: weekends }, (_, number) => {
      const copy = new Map<string, string>()
      for (const eventId of count.eventIds()) {
        const organization = count.organizationIdOf(eventId)
        const [copiedId, organizationId] = [
          newId(eventId, `${year} ${number}`),
          newId(organization, `${number}`),
        ]
        copy.set(eventId, copiedId).set(organization, organizationId)
        originals.set(copiedId, { eventId, organizationId })
      }
      return copy
    })
    const eventIds = copies.flatMap(copy => count.eventIds().map(eventId => copy.get(eventId) ?? ''))
    return {
      records: () => recordsOf(weekend, copies),
      count: {
        ...count,
        eventIds: () => eventIds,
        organizationIdOf: id => originalOf(id).organizationId,
        answers: id => count.answers(originalOf(id).eventId),
        lastAnswers: id => count.lastAnswers(originalOf(id).eventId),
      },
    }
  }
}

/** The record with its days in another year. */
function inYear({ type, value }: TestRecord, year: number): TestRecord {
  return { type, value: JSON.parse(JSON.stringify(value).replaceAll(`"${yearOfDays}-`, `"${year}-`)) }
}

/** A weekend's records, again for each copy under its ids. */
function* recordsOf(weekend: Outgoing[], copies: Map<string, string>[]): Generator<Outgoing> {
  for (const copy of copies) {
    const replaced = (id: string) => `"${copy.get(id.slice(1, -1))}"`
    for (const { type, key, value } of weekend)
      yield { type, key: copy.get(key) ?? '', value: String(value).replace(ids, replaced) }
  }
}
