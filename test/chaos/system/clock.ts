import { globSync, mkdirSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installPackage } from '#infra/install/apt.ts'

const library = '/usr/lib/*/faketime/libfaketime.so.1'
let installing: Promise<boolean> | undefined

/** Whether processes can get another clock here: needs libfaketime, installed on Debian as root if it is missing. */
export async function hasWrongClocks(log: (line: string) => void): Promise<boolean> {
  if (globSync(library).length > 0) return true
  installing ??= installPackage('libfaketime', { log, signal: undefined })
  return (await installing) && globSync(library).length > 0
}

/** The wall clock of one process; timers are not changed by it. */
export type Clock = {
  /** The environment to start a process with. */
  env: Record<string, string>
  /** Sets it to this many seconds ahead of the right time (behind: negative); the process sees that within 1 s. */
  set: (seconds: number) => void
}

let clocks = 0

/** A clock that is wrong by this many seconds; `folder` is for its file. */
export function wrongClock(folder: string, seconds: number): Clock {
  mkdirSync(folder, { recursive: true })
  const file = join(folder, `clock-${++clocks}`)
  const set = (seconds: number) => {
    // Replaced as a whole, so that no process reads half a file.
    writeFileSync(`${file}.new`, `${seconds < 0 ? '-' : '+'}${Math.abs(seconds)}\n`)
    renameSync(`${file}.new`, file)
  }
  set(seconds)
  const env = {
    LD_PRELOAD: globSync(library)[0] ?? '',
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_CACHE_DURATION: '1',
    FAKETIME_DONT_FAKE_MONOTONIC: '1',
    // Older releases of the library know only this name.
    DONT_FAKE_MONOTONIC: '1',
  }
  return { env, set }
}
