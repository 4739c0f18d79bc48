import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'

/** A folder for what a scanner keeps, deleted after the test. */
export function scanFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tally-scan-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return folder
}
