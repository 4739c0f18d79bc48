import { type RawBuilder, sql } from 'kysely'

/**
 * A statement, or a part of one, by its text with `$` for each parameter: for texts that are made of the declarations
 * of counters, once, when a module is loaded. test/statements.sql shows them all.
 */
export function statement<Result = unknown>(text: string): (...values: unknown[]) => RawBuilder<Result> {
  const parts = text.split('$') as unknown as TemplateStringsArray
  return (...values) => sql<Result>(parts, ...values)
}
