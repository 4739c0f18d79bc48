import { readFileSync } from 'node:fs'

/** Resident memory of a process in MiB: the most that it ever had, and now. For Linux. */
export function memoryOf(pid: number): { peak: number; now: number } {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const mebibytes = (name: string) =>
    Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]) / 1024
  return { peak: mebibytes('VmHWM'), now: mebibytes('VmRSS') }
}
