import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { commandLine } from '../servers/process.ts'

/**
 * Holds a checkout for one `npm start`, by a file in `folder` that is named by its process. Returns what lets it go;
 * throws when another holds it. A file is deleted if its process is gone, or its pid belongs to another program by now.
 */
export function lock(folder: string): () => void {
  mkdirSync(folder, { recursive: true })
  const own = String(process.pid)
  const unlock = () => rmSync(join(folder, own), { force: true })
  // Before it looks for others: of two that come here at once at most one goes on.
  writeFileSync(join(folder, own), '')
  for (const pid of readdirSync(folder)) {
    if (pid === own) continue
    if (isStart(Number(pid))) {
      unlock()
      throw new Error(
        `npm start runs in this checkout already (process ${pid}); end it with Ctrl-C or \`kill ${pid}\``,
      )
    }
    rmSync(join(folder, pid), { force: true })
  }
  return unlock
}

/** Whether a process is an `npm start`; on a system without /proc, whether it runs at all. */
function isStart(pid: number): boolean {
  if (process.platform === 'linux') return commandLine(pid).includes('start.ts')
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
