import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Holds a checkout for one `npm start`. Returns what lets it go; throws when another holds it. A lock whose process is
 * gone, or whose pid belongs to another program by now, counts as open.
 */
export function lock(file: string): () => void {
  mkdirSync(dirname(file), { recursive: true })
  const holder = holderOf(file)
  if (holder !== undefined) {
    throw new Error(
      `npm start runs in this checkout already (process ${holder}); end it with Ctrl-C or \`kill ${holder}\``,
    )
  }
  rmSync(file, { force: true })
  // wx: of two that come here at once one fails.
  writeFileSync(file, `${process.pid}\n`, { flag: 'wx' })
  return () => rmSync(file, { force: true })
}

function holderOf(file: string): number | undefined {
  try {
    const pid = Number(readFileSync(file, 'utf8'))
    process.kill(pid, 0)
    return commandLine(pid).includes('start.ts') ? pid : undefined
  } catch {
    return undefined
  }
}

/** The command line of a process; on a system without /proc, one that could be ours. */
function commandLine(pid: number): string {
  if (process.platform !== 'linux') return 'start.ts'
  return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
}
