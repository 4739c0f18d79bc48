import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { run } from '../command.ts'
import type { PartSetup } from '../servers/part.ts'

const policyFile = '/usr/sbin/policy-rc.d'
const env = { DEBIAN_FRONTEND: 'noninteractive' }

type Setup = Pick<PartSetup, 'log' | 'signal'>

/** Installs a Debian package if possible (as root, with apt-get); returns whether it did. */
export async function installPackage(name: string, setup: Setup): Promise<boolean> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false
  return installAsRoot(name, setup, policyFile)
}

/** Announces the installation, installs, and removes the policy that kept services down, however apt-get ends. */
export async function installAsRoot(name: string, { log, signal }: Setup, policy: string): Promise<boolean> {
  log(
    `${name} is missing: installing Debian's package as root, with apt-get install ${name} (install it yourself to avoid this)`,
  )
  const apt = ['-qq', '-o', 'DPkg::Lock::Timeout=120']
  const install = () =>
    run('apt-get', [...apt, 'install', '-y', '--no-install-recommends', name], { env, signal })
  const release = keepServicesDown(policy)
  try {
    await install().catch(async () => {
      signal?.throwIfAborted()
      await run('apt-get', [...apt, 'update'], { env, signal })
      await install()
    })
    return true
  } catch (error) {
    signal?.throwIfAborted()
    log(`the package ${name} could not be installed: ${error instanceof Error ? error.message : error}`)
    return false
  } finally {
    release()
  }
}

const ours = '# Written by Tally while it installs a package.'

/** Forbids services while the process runs. If it is killed and the file stays, the file deletes itself. */
export const policyOf = (pid: number): string => `#!/bin/sh
${ours}
kill -0 ${pid} 2>/dev/null && exit 101
rm -f "$0"
`

/** Keeps a package from starting its own service on its default port; returns what takes that back. */
function keepServicesDown(policy: string): () => void {
  if (existsSync(policy) && !readFileSync(policy, 'utf8').includes(ours)) return () => {}
  writeFileSync(policy, policyOf(process.pid), { mode: 0o755 })
  return () => rmSync(policy, { force: true })
}
