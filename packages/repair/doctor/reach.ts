import { causesOf, reasonOf, timeout } from '@tally/runtime'
import { type Checked, type Finding, fail, skip } from './check.ts'
import { faultOf } from './faults.ts'

/** How long a part may take to answer at all. */
export const reachTimeoutMs = 5_000

/** A part that was opened: `deps` for its other checks, absent if it did not answer. */
export type Reached<Deps> = { line: Checked; deps?: Deps }

/** What a part that answers says about itself, and what its other checks need. */
type Answered<Deps> = { finding: Finding; deps: Deps }

/**
 * Asks a part for its first answer. `wrongSettings`: a setting of this part is invalid, so it is not asked. An error
 * becomes a line with what it means (faults.ts), or its reason and `mend`; one of an expired certificate belongs to the
 * line of the certificate.
 */
export async function reach<Deps>(
  check: 'kafka' | 'postgres' | 'redis',
  { wrongSettings, address, mend }: { wrongSettings: boolean; address: string; mend: string },
  ask: () => Promise<Answered<Deps>>,
): Promise<Reached<Deps>> {
  if (wrongSettings) return { line: { check, ...skip('not checked: see settings') } }
  try {
    const { finding, deps } = await timeout(reachTimeoutMs, ask())
    return { line: { check, ...finding }, deps }
  } catch (error) {
    if (isExpired(error)) return { line: { check, ...skip(`not checked: see ${check} certificate`) } }
    const fault = faultOf(check, error)
    const finding = fault
      ? fail(`${address}: ${fault.found}`, fault.mend)
      : fail(`no connection to ${address}: ${reasonOf(error)}`, mend)
    return { line: { check, ...finding } }
  }
}

const isExpired = (error: unknown): boolean =>
  causesOf(error).some(({ code, message }) =>
    /CERT_HAS_EXPIRED|certificate has expired/.test(`${code} ${message}`),
  )
