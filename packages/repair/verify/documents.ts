import {
  type CounterChanges,
  documentsOf,
  type EventHead,
  emptyDocument,
  versionOf,
  views,
} from '@tally/figures'
import { complete } from '@tally/publication'
import type { Finding } from '../differences.ts'

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
export function fieldFindings(should: Map<string, string>, is: Record<string, string>): Finding[] {
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
