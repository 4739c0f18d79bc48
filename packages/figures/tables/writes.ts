import type { EventId } from '@tally/contract'
import type { CounterChanges } from '../counting/changes.ts'
import type { Counter } from '../counting/counter.ts'
import { counterNames, counters } from '../counting/counters.ts'
import { insertRows } from './insert.ts'
import { insertBlocks } from './insertBlocks.ts'
import type { Write } from './write.ts'

/** Of each counter, the writes that add changes to it, each to different rows. */
export const counterWrites: ((changes: Map<EventId, CounterChanges>) => Iterable<Write>)[] = counterNames.map(
  name => ((counters[name] as Counter).blocks === undefined ? insertRows(name) : insertBlocks(name)),
)
