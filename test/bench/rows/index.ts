import type { Row } from '../run/row.ts'
import { badRecords } from './badRecords.ts'
import { freshness } from './freshness.ts'
import { growth } from './growth.ts'
import { hot } from './hot.ts'
import { hotSize } from './hotSize.ts'
import { memory } from './memory.ts'
import { orderList } from './orderList.ts'
import { projector } from './projector.ts'

/** All rows, in the order of design.md's table, last what is not in it; those that share data stand side by side. */
export const rows: Row[] = [projector, growth, hot, hotSize, orderList, freshness, memory, badRecords]
