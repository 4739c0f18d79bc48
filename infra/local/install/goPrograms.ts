import { existsSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { run, tryRun } from '../command.ts'

/** A program that Go builds: its name, its package, the version, and arguments with which it ends well. */
export type GoProgram = { name: string; source: string; version: string; proof: string[] }

/** Kubernetes' package manager, for the chart in infra/kubernetes. */
export const helm: GoProgram = {
  name: 'helm',
  source: 'helm.sh/helm/v3/cmd/helm',
  version: 'v3.22.0',
  proof: ['version'],
}

/** Compares two OpenAPI documents. */
export const oasdiff: GoProgram = {
  name: 'oasdiff',
  source: 'github.com/oasdiff/oasdiff',
  version: 'v1.35.0',
  proof: ['--version'],
}

/**
 * The path of a program: one on the PATH, or that of the fixed version, which Go builds once for this user and not once
 * for a checkout (helm takes minutes). Throws the one line that says what to install.
 */
export async function goProgram(
  { name, source, version, proof }: GoProgram,
  log: (line: string) => void,
): Promise<string> {
  if ((await tryRun(name, proof)) !== undefined) return name
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'tally', name, version)
  const path = join(folder, name)
  if (existsSync(path)) return path
  log(`${name} is missing: building ${source}@${version} with Go into ${folder}, once (a minute or more)`)
  const env = { GOBIN: folder, CGO_ENABLED: '0' }
  await run('go', ['install', '-trimpath', `${source}@${version}`], { env }).catch(error => {
    throw new Error(`${name} could not be built (${error}): put ${name} on the PATH, or install Go`)
  })
  return path
}

/** The folder of a Go module's source (`path@version`), which Go downloads once. */
export async function goModule(module: string): Promise<string> {
  const { stdout } = await run('go', ['mod', 'download', '-json', module], { cwd: homedir() })
  return JSON.parse(stdout).Dir
}
