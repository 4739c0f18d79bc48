import { mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { PartName } from '#infra/servers/index.ts'

/** The names by which Tally's processes reach each server; Kafka's is as long as 127.0.0.1 (kafkaAddress.ts). */
export const hostOf = (part: PartName) => `${part}.lan`

/** Names that resolve in processes started with `options`, and that can be switched off. */
export type Names = {
  /** For NODE_OPTIONS. */
  options: string
  /** From now on a look-up fails with EAI_AGAIN, as while a name server is away; connections that are open go on. */
  off: (part: PartName) => void
  on: (part: PartName) => void
}

/** `folder`: keeps an empty file for each name that is switched off. */
export function openNames(folder: string): Names {
  mkdirSync(folder, { recursive: true })
  const hook = pathToFileURL(join(import.meta.dirname, 'lookup.ts'))
  hook.searchParams.set('folder', folder)
  return {
    options: `--import=${hook.href}`,
    off: part => writeFileSync(join(folder, hostOf(part)), ''),
    on: part => rmSync(join(folder, hostOf(part)), { force: true }),
  }
}
