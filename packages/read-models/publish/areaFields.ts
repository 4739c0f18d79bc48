import type { AreaCounters } from '../documents/counters.ts'
import { composeArea } from '../documents/documents.ts'
import { documentName } from '../documents/names.ts'
import { segmentField, segmentsField, segmentsOf } from '../documents/segments.ts'

/**
 * The fields of an event's hash for one (day, area): name, text, ... Of its items document only the `changed` segments,
 * which publish.1.lua adds to the list of its segments; with `all` the list as well.
 */
export function areaFields(
  { dayId, areaId, ...counters }: AreaCounters,
  changed: ReadonlySet<number> | 'all',
  timeZone: string | null,
): string[] {
  const { kpis, hours, items } = composeArea(counters, timeZone)
  const fields: string[] = []
  if (kpis !== undefined) fields.push(documentName('kpis', dayId, areaId), JSON.stringify(kpis))
  if (hours !== undefined) fields.push(documentName('hours', dayId, areaId), JSON.stringify(hours))
  if (items === undefined) return fields
  const texts = segmentsOf(items)
  if (changed === 'all') fields.push(segmentsField(dayId, areaId), [...texts.keys()].join())
  for (const segment of changed === 'all' ? texts.keys() : changed)
    fields.push(segmentField(dayId, areaId, segment), texts.get(segment) ?? '')
  return fields
}
