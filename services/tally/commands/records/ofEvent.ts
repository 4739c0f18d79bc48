import type { EventId } from '@tally/contract'
import type { KafkaRecord } from '@tally/kafka'

/**
 * Whether a record's key or value has the id of an event anywhere, in lower or upper case: whatever is wrong with a
 * record, such as an envelope or another key, it is found. Every record passes without an event.
 */
export function createFilter(event: EventId | undefined) {
  const spellings = event === undefined ? [] : [event, event.toUpperCase()].map(id => Buffer.from(id))
  return ({ key, value }: KafkaRecord): boolean =>
    event === undefined || spellings.some(id => key?.includes(id) || value?.includes(id))
}
