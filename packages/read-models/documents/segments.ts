import type { ItemsDocument } from '@tally/core'
import { itemsPerBlock } from '../items/table.ts'

/**
 * Redis stores an items document in segments of four adjacent menu item ids, so that a sale writes those of its items,
 * and not the whole menu. An event's hash has two kinds of fields for it (`41:0` is day 41, all areas):
 *
 * - `items:41:0:7`: the figures of the items 28 to 31 as the inside of a JSON array; empty if none of them is sold.
 * - `segments:41:0`: the numbers of the document's segments, ascending, with commas between them.
 *
 * scripts/readDocuments.1.lua puts the document `items:41:0` together again.
 */
const itemsPerSegment = 4
const segmentsPerBlock = itemsPerBlock / itemsPerSegment

/** The number of the segment that an item belongs to. */
export const segmentOf = (menuItemId: number): number => Math.floor(menuItemId / itemsPerSegment)

/** The block of item counters that a segment is composed of (items/table.ts). */
export const blockOfSegment = (segment: number): number => Math.floor(segment / segmentsPerBlock)

/** The field of a segment. */
export const segmentField = (dayId: number, areaId: number, segment: number): string =>
  `items:${dayId}:${areaId}:${segment}`

/** The field with the numbers of a document's segments. */
export const segmentsField = (dayId: number, areaId: number): string => `segments:${dayId}:${areaId}`

/** The text of each segment that has an item; the items are ascending, and so are the segments. */
export function segmentsOf(items: ItemsDocument): Map<number, string> {
  const segments = new Map<number, string>()
  for (const figures of items) {
    const segment = segmentOf(figures[0])
    const before = segments.get(segment)
    const text = JSON.stringify(figures)
    segments.set(segment, before === undefined ? text : `${before},${text}`)
  }
  return segments
}

/**
 * The fields of an event's hash with each items document in one piece, under its name, as readDocuments.1.lua returns
 * it. A segment that its document does not list stays a field.
 */
export function joinSegments(hash: Record<string, string>): Record<string, string> {
  const joined = { ...hash }
  for (const [name, text] of Object.entries(hash)) {
    const [kind, dayId, areaId] = name.split(':')
    if (kind !== 'segments') continue
    const fields = text === '' ? [] : text.split(',').map(segment => `items:${dayId}:${areaId}:${segment}`)
    joined[`items:${dayId}:${areaId}`] = `[${fields.flatMap(field => hash[field] || []).join(',')}]`
    for (const field of [name, ...fields]) delete joined[field]
  }
  return joined
}
