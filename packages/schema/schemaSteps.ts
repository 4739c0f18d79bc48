/**
 * An upgrade without a stop changes the schema in two steps (docs/operations.md, Migrations in two steps). A migration
 * whose name contains `-contract-` removes what only processes of earlier versions use; every other one expands: it
 * adds what such processes do not notice.
 */
export const isContract = (name: string): boolean => name.includes('-contract-')

/** A schema is too old for a program, or has lost what the program uses. */
export type Misfit = 'old' | 'newer'

/**
 * Whether a program that knows the migrations `known`, in order, can run on a schema to which `applied` were applied;
 * undefined if it can. Its own contract steps may be missing at the end, because they run when the upgrade is complete.
 * Migrations that it does not know may be there if they only expand, because a newer version is being deployed.
 */
export function misfitOf(known: string[], applied: string[]): Misfit | undefined {
  if (known.some(name => !isContract(name) && !applied.includes(name))) return 'old'
  return applied.some(name => !known.includes(name) && isContract(name)) ? 'newer' : undefined
}

/** An upgrade that skips a version would remove what processes that still run may use. */
export class SkippedVersionError extends Error {
  override readonly name = 'SkippedVersionError'
}

/**
 * The migrations to run, in order. Without `contracts`, contract steps at the end are left for later. Contract steps
 * that the previous version left come first if an expansion follows, because its processes do not need what they
 * remove. An empty database has no processes, so everything runs. Throws a SkippedVersionError if a contract step
 * stands between two expansions: processes of the version before it may still run.
 */
export function planMigrations(known: string[], applied: string[], { contracts = false } = {}): string[] {
  const missing = known.filter(name => !applied.includes(name))
  if (contracts || applied.length === 0) return missing
  const planned = missing.slice(0, missing.findLastIndex(name => !isContract(name)) + 1)
  const firstExpansion = planned.findIndex(name => !isContract(name))
  const between = planned.slice(firstExpansion).find(isContract)
  if (between !== undefined)
    throw new SkippedVersionError(
      `this upgrade skips a version: ${between} removes what running processes may use. Upgrade to the version in between first, or stop all processes and run \`tally migrate --contract\``,
    )
  return planned
}
