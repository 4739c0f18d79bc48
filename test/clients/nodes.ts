import { realpathSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { tryRun } from '#infra/command.ts'

/** The machine's own Node (`npm test` needs 20 or later) and the Node 24 that runs Tally, with their versions. */
export async function nodes(): Promise<{ path: string; version: string }[]> {
  const own = (process.env.PATH ?? '').split(delimiter).filter(folder => !folder.includes('node_modules'))
  const paths = new Set([process.execPath, ...own.map(folder => join(folder, 'node'))].flatMap(real))
  const found = [...paths].map(async path => ({ path, version: await tryRun(path, ['--version']) }))
  return (await Promise.all(found)).flatMap(({ path, version }) =>
    version === undefined ? [] : [{ path, version: version.trim() }],
  )
}

function real(path: string): string[] {
  try {
    return [realpathSync(path)]
  } catch {
    return []
  }
}
