import { reasonOf, timeout } from '@tally/platform'

/**
 * What one check found. `ok`: as it should be. `warn`: Tally works, but somebody should look. `fail`: Tally does not
 * work, or its figures, their freshness or the data are in danger. `skip`: not checked, because of another line.
 */
export type DoctorFinding = {
  state: 'ok' | 'warn' | 'fail' | 'skip'
  /** What is there, in a few words; never a secret. */
  found: string
  /** What to do; set for `warn` and `fail`. */
  mend?: string
  /** Figures behind it, for programs. */
  figures?: Record<string, number | null>
}
/** One line of `tally doctor`. */
export type Checked = { check: string } & DoctorFinding

export const ok = (found: string): DoctorFinding => ({ state: 'ok', found })
export const skip = (found: string): DoctorFinding => ({ state: 'skip', found })
export const warn = (found: string, mend: string): DoctorFinding => ({ state: 'warn', found, mend })
export const fail = (found: string, mend: string): DoctorFinding => ({ state: 'fail', found, mend })

/** The checks of one part, by name, in the order of their lines. */
export type Checks<Of> = Record<string, (of: Of) => DoctorFinding | Promise<DoctorFinding>>

const checkTimeoutMs = 10_000

/** Runs all checks of a part at once; skips all of them, for the reason `why`, if it was not reached (undefined). */
export function runChecks<Of>(checks: Checks<Of>, of: Of | undefined, why: string): Promise<Checked[]> {
  return Promise.all(
    Object.entries(checks).map(async ([check, run]) => ({
      check,
      ...(of === undefined ? skip(why) : await attempt(async () => run(of))),
    })),
  )
}

/** A check that cannot be made does not prove a fault: a part may have gone down just now, or forbid to look. */
async function attempt(run: () => Promise<DoctorFinding>): Promise<DoctorFinding> {
  try {
    return await timeout(checkTimeoutMs, run())
  } catch (error) {
    return warn(`could not be checked: ${reasonOf(error)}`, 'run tally doctor again')
  }
}
