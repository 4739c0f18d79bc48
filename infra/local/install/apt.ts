import { existsSync, rmSync, writeFileSync } from 'node:fs'
import { run } from '../command.ts'
import type { PartSetup } from '../servers/part.ts'

const policy = '/usr/sbin/policy-rc.d'
const env = { DEBIAN_FRONTEND: 'noninteractive' }

/** Installs a Debian package if possible (as root, with apt-get); returns whether it did. */
export async function installPackage(
  name: string,
  { log, signal }: Pick<PartSetup, 'log' | 'signal'>,
): Promise<boolean> {
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) return false
  log(`installing the package ${name}`)
  const apt = ['-qq', '-o', 'DPkg::Lock::Timeout=120']
  const install = () =>
    run('apt-get', [...apt, 'install', '-y', '--no-install-recommends', name], { env, signal })
  const release = keepServicesDown()
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

/** Keeps a package from starting its own service on its default port; returns what takes that back. */
function keepServicesDown(): () => void {
  if (existsSync(policy)) return () => {}
  writeFileSync(policy, '#!/bin/sh\nexit 101\n', { mode: 0o755 })
  return () => rmSync(policy, { force: true })
}
