import { setTimeout as sleep } from 'node:timers/promises'
import { causesOf, type Part, reasonOf, type Settings, timeout } from '@tally/platform'
import { type Fault, faultOf } from './faults.ts'
import { tlsFaultOf } from './tls.ts'

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

/** How long a part may take to answer at all. */
export const reachTimeoutMs = 5_000

/** How to open a part. `wrongSettings`: one of its settings is invalid, so it is not asked. */
export type Reach = {
  settings: Settings
  wrongSettings: boolean
  onOpen: (close: () => Promise<void>) => void
}

/** A part that was opened: `deps` for its other checks, absent if it did not answer. */
type Reached<Deps> = { line: Checked; deps?: Deps }

/** What a part that answers says about itself, and what its other checks need. */
type Answered<Deps> = { finding: DoctorFinding; deps: Deps }

/** A part that has not answered by then is looked at more closely: Kafka's client tries for many seconds. */
const lateMs = 1_000

class TlsFaultError extends Error {
  readonly fault: Fault

  constructor(fault: Fault) {
    super(fault.found)
    this.fault = fault
  }
}

/** Rejects with a TlsFaultError if there is such a fault; else never settles. */
async function tlsFaultLater(part: Part, settings: Settings, signal: AbortSignal): Promise<never> {
  const fault = await sleep(lateMs, undefined, { signal }).then(
    () => tlsFaultOf(part, settings),
    () => undefined,
  )
  if (fault !== undefined) throw new TlsFaultError(fault)
  return new Promise(() => {})
}

/** `mend`: what to do if nothing is known about the error. */
type Asked = { settings: Settings; wrongSettings: boolean; address: string; mend: string }

/**
 * Asks a part for its first answer. `wrongSettings`: a setting of this part is invalid, so it is not asked. An error
 * becomes a line with what it means (faults.ts, tls.ts), or its reason and `mend`; one of an expired certificate
 * belongs to the line of the certificate.
 */
export async function reach<Deps>(
  check: Part,
  { settings, wrongSettings, address, mend }: Asked,
  ask: () => Promise<Answered<Deps>>,
): Promise<Reached<Deps>> {
  if (wrongSettings) return { line: { check, ...skip('not checked: see settings') } }
  const done = new AbortController()
  const asked = timeout(reachTimeoutMs, ask())
  asked.catch(() => undefined)
  try {
    const { finding, deps } = await Promise.race([asked, tlsFaultLater(check, settings, done.signal)])
    return { line: { check, ...finding }, deps }
  } catch (error) {
    if (isExpired(error)) return { line: { check, ...skip(`not checked: see ${check} certificate`) } }
    const fault =
      error instanceof TlsFaultError
        ? error.fault
        : (faultOf(check, error) ?? (await tlsFaultOf(check, settings)))
    const finding = fault
      ? fail(`${address}: ${fault.found}`, fault.mend)
      : fail(`no connection to ${address}: ${reasonOf(error)}`, mend)
    return { line: { check, ...finding } }
  } finally {
    done.abort()
  }
}

const isExpired = (error: unknown): boolean =>
  causesOf(error).some(({ code, message }) =>
    /CERT_HAS_EXPIRED|certificate has expired/.test(`${code} ${message}`),
  )
