import type { RawBuilder } from 'kysely'

/** One statement that writes rows which no other write of its batch touches. */
export type Write = RawBuilder<unknown>
