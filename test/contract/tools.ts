import { createRequire } from 'node:module'
import { join } from 'node:path'
import { npmPackages } from '#infra/install/npmPackages.ts'

/** Finds an installed program of test/contract/tools, or a module of it. */
export type Tools = { program: (name: string) => string; load: (name: string) => unknown }

/** Installs the tools of test/contract/tools into .local: `npm start` does not need their 260 packages. */
export async function installTools(): Promise<Tools> {
  const folder = await npmPackages('contract-tools', join(import.meta.dirname, 'tools'), console.error)
  const required = createRequire(join(folder, 'package.json'))
  return {
    program: name => join(folder, 'node_modules/.bin', name),
    load: name => required(name),
  }
}
