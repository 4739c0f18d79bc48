import type { EventId } from '@tally/contract'
import { type Counter, type CounterChanges, counterNames, counters } from '@tally/core'
import type { Write } from '../write.ts'
import { insertRows } from './insert.ts'
import { insertBlocks } from './insertBlocks.ts'

/** Of each counter, the writes that add changes to it, each to different rows. */
export const counterWrites: ((changes: Map<EventId, CounterChanges>) => Iterable<Write>)[] = counterNames.map(
  name => ((counters[name] as Counter).blocks === undefined ? insertRows(name) : insertBlocks(name)),
)
