// @ts-expect-error a plain script of the browser
import * as script from '../assets/parts.js'
import type { Format } from '../views/format.ts'
import type { Tree } from '../views/tree.ts'
import type { Beat, DayShown } from './day.ts'

/** The figures of a live page by the ids of the elements that hold them (assets/parts.js). */
export type Parts = Record<string, Tree[]>

/** The parts as the page shows them first; `address` leads to another day when its number is appended. */
export const firstParts = (day: DayShown, beat: Beat, format: Format, address: string): Parts =>
  script.partsOf(day, beat, format, { ...script.firstChoice, address })
