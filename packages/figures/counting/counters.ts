import { hourly } from '../hours/counter.ts'
import { items } from '../items/counter.ts'
import { daily } from '../kpis/counter.ts'
import { orderBuckets } from '../orderBuckets/counter.ts'
import { payments } from '../payments/counter.ts'
import type { ByKey, Counter, OwnKey, Rows } from './counter.ts'

/** Every counter, in the order in which a batch writes them. */
export const counters = { daily, hourly, items, payments, orderBuckets }
export type CounterName = keyof typeof counters
export const counterNames = Object.keys(counters) as CounterName[]

type AmountOf<Name extends CounterName> =
  (typeof counters)[Name] extends Counter<infer Amount, infer _Own> ? Amount : never
type OwnKeyOf<Name extends CounterName> =
  (typeof counters)[Name] extends Counter<infer _Amount, infer Own> ? Own : OwnKey

/** The changes of one (day, area), by counter. */
export type AreaChanges = { [Name in CounterName]: Rows<AmountOf<Name>, OwnKeyOf<Name>> }

/** Rows of a counter, for what only reads them. */
export type RowsOf<Name extends CounterName> = ByKey<AmountOf<Name>, OwnKeyOf<Name>>
