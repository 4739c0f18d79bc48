import type { Kysely, Transaction } from 'kysely'

/** Every table, for kysely. Each owner declares its own with `declare module '@tally/platform/database'`. */
// biome-ignore lint/suspicious/noEmptyInterface: filled by the packages that own tables
export interface Database {}

export type Postgres = Kysely<Database>
export type Tx = Transaction<Database>
