import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { run, tryRun } from '#infra/command.ts'
import { localFolder } from '#infra/folder.ts'
import pinned from './previousVersion.json' with { type: 'json' }

const root = join(import.meta.dirname, '../..')
const { version, commit } = pinned

type Package = { version?: string; link?: boolean; resolved?: string; dev?: boolean; optional?: boolean }
type Packages = Record<string, Package>

/**
 * The `tally` of the version before this one (previousVersion.json), taken from git's history into `.local/versions`,
 * once. Returns undefined, and prints why, if this clone does not have that commit and its remote does not give it.
 */
export async function previousTally(): Promise<string | undefined> {
  const folder = localFolder(join('versions', commit))
  const program = join(folder, 'services/tally/bin/tally')
  if (existsSync(program) && isInstalled(folder)) return program
  if (!(await hasCommit())) {
    console.warn(
      `version ${version} (commit ${commit.slice(0, 12)}) is not in this clone's history, so upgrades from it are not tested: git fetch --unshallow`,
    )
    return undefined
  }
  // Test files prepare it at the same time: each in a folder of its own, and the first is kept.
  const prepared = `${folder}.${process.pid}`
  await prepare(prepared)
  if (!isInstalled(folder)) rmSync(folder, { recursive: true, force: true })
  try {
    renameSync(prepared, folder)
  } catch {
    rmSync(prepared, { recursive: true, force: true })
  }
  return program
}

async function prepare(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const archive = join(folder, 'archive.tar')
  const wanted = ['packages', 'services', 'docs', 'package.json', 'package-lock.json']
  await run('git', ['archive', '-o', archive, commit, ...wanted], { cwd: root })
  await run('tar', ['-xf', archive], { cwd: folder })
  rmSync(archive)
  if (hasSamePackages(folder)) linkPackages(folder)
  else {
    console.info(`Installing the packages of version ${version} (npm ci) into ${folder}, once ...`)
    const options = ['--omit=dev', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
    await run('npm', ['ci', ...options], { cwd: folder })
  }
}

/** Whether the commit is here, or can be fetched, as in a shallow clone. */
async function hasCommit(): Promise<boolean> {
  const git = (...args: string[]) =>
    tryRun('git', args, {
      cwd: root,
      env: { GIT_TERMINAL_PROMPT: '0' },
      signal: AbortSignal.timeout(60_000),
    }).catch(() => undefined)
  const isHere = async () => (await git('cat-file', '-e', `${commit}^{commit}`)) !== undefined
  if (await isHere()) return true
  await git('fetch', '--quiet', '--depth=1', 'origin', commit)
  return isHere()
}

const packagesOf = (file: string): Packages =>
  existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as { packages: Packages }).packages : {}

/** npm writes its own list last. Without one, the packages are this checkout's, which may have changed since. */
function isInstalled(folder: string): boolean {
  const isLinked = existsSync(join(folder, 'node_modules/.linked'))
  return isLinked ? hasSamePackages(folder) : existsSync(join(folder, 'node_modules/.package-lock.json'))
}

/** Whether this checkout's packages are those that the version was locked to: installing them takes half a minute. */
function hasSamePackages(folder: string): boolean {
  const installed = packagesOf(join(root, 'node_modules/.package-lock.json'))
  const wanted = Object.entries(packagesOf(join(folder, 'package-lock.json'))).filter(
    ([path, { link, dev }]) => path.includes('node_modules/') && !link && !dev,
  )
  return wanted.every(([path, { version, optional }]) => {
    const found = installed[path]?.version
    return found === version || (found === undefined && optional === true)
  })
}

/** Links this checkout's packages into the version's folder, and the version's own workspaces. */
function linkPackages(folder: string): void {
  const link = (path: string, target: string): void => {
    mkdirSync(dirname(path), { recursive: true })
    symlinkSync(relative(dirname(path), target), path)
  }
  for (const name of readdirSync(join(root, 'node_modules')))
    if (name !== '@tally' && !name.startsWith('.'))
      link(join(folder, 'node_modules', name), join(root, 'node_modules', name))
  const isNested = (path: string): boolean => /^(packages|services)\/.*?\/node_modules\/[^/]+$/.test(path)
  for (const [path, of] of Object.entries(packagesOf(join(folder, 'package-lock.json')))) {
    if (of.link) link(join(folder, path), join(folder, of.resolved ?? ''))
    else if (isNested(path) && existsSync(join(root, path))) link(join(folder, path), join(root, path))
  }
  writeFileSync(join(folder, 'node_modules/.linked'), '')
}
