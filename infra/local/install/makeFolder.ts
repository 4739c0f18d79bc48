import { chmodSync, existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'

/**
 * Makes a folder if it is not there. `fill` writes into one of another name, which is renamed once it is whole: an
 * interrupted download is never taken for a whole one, and processes that need the same folder may run side by side.
 */
export async function makeFolder(folder: string, fill: (partly: string) => unknown): Promise<void> {
  if (existsSync(folder)) return
  mkdirSync(dirname(folder), { recursive: true })
  const partly = mkdtempSync(`${folder}.`)
  try {
    await fill(partly)
    chmodSync(partly, 0o755)
    renameSync(partly, folder)
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!existsSync(folder)) throw error
  } finally {
    rmSync(partly, { recursive: true, force: true })
  }
}
