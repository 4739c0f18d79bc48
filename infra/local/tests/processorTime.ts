import { readFileSync } from 'node:fs'
import { afterAll } from 'vitest'

declare module 'vitest' {
  interface TaskMeta {
    /** What a test file took of the processor. */
    processorMs?: number
  }
}

const ticksPerSecond = 100

/**
 * The processor time of this process and of all processes that it started and that have ended; on Linux, otherwise of
 * this process alone. Servers that files share are not in it.
 */
function processorMs(): number {
  try {
    // Fields 14 to 17 of proc(5): utime, stime, cutime, cstime. The name before may have blanks.
    const fields = readFileSync('/proc/self/stat', 'utf8').split(') ').at(-1)?.split(' ') ?? []
    return (fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond) * 1000
  } catch {
    const { user, system } = process.cpuUsage()
    return (user + system) / 1000
  }
}

const began = processorMs()

// biome-ignore lint/correctness/noEmptyPattern: vitest demands a pattern
afterAll(({}, file) => {
  file.meta.processorMs = processorMs() - began
})
