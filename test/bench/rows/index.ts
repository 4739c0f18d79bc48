import type { Row } from '../run/row.ts'
import { badRecords } from './badRecords.ts'
import { cold } from './cold.ts'
import { dashboards } from './dashboards.ts'
import { freshness, menu } from './freshness.ts'
import { growth } from './growth.ts'
import { hot } from './hot.ts'
import { hotSize } from './hotSize.ts'
import { memory } from './memory.ts'
import { orderList } from './orderList.ts'
import { polling, pollingUnchanged } from './polling.ts'
import { pollingLive } from './pollingLive.ts'
import { projector } from './projector.ts'
import { scale } from './scale.ts'
import { soak } from './soak.ts'
import { start } from './start.ts'

/** All rows, in the order of docs/performance.md; rows that share data are neighbours. */
export const rows: Row[] = [
  projector,
  cold,
  growth,
  scale,
  hot,
  polling,
  pollingUnchanged,
  pollingLive,
  hotSize,
  orderList,
  freshness,
  dashboards,
  menu,
  start,
  memory,
  badRecords,
  soak,
]
