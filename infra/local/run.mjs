// What `npm start`, `npm test`, `npm run bench` and `npm run test:…` run. It needs the machine's own Node (20 or later)
// and nothing installed: it installs the dependencies, among them Node 24, and hands over to the file that is named.
import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, symlinkSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkPrerequisites } from './prerequisites.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
// npm has Node 24 for Linux only; elsewhere it is the machine's own.
const packaged = join(root, `node_modules/node-linux-${process.arch}/bin/node`)
const node = process.platform === 'linux' ? packaged : process.execPath
const [file, ...args] = process.argv.slice(2)

const installed = isInstalled()
if (file === 'infra/local/start.ts' && !args.includes('--help'))
  await checkPrerequisites(root, { isInstalled: installed, npm: npmCommand() })
if (!installed) await install()
linkNode()
hand(node, [join(root, file), ...args])

/**
 * Whether node_modules holds what package-lock.json names. npm keeps its own list of what it installed; comparing the
 * two holds also after a `git pull` or an `npm ci` by hand, and an interrupted installation has no such list.
 */
function isInstalled() {
  try {
    accessSync(node, constants.X_OK)
    const wanted = packagesOf(join(root, 'package-lock.json'))
    const there = packagesOf(join(root, 'node_modules/.package-lock.json'))
    return Object.entries(wanted).every(([path, entry]) => {
      if (!path.startsWith('node_modules/')) return true
      const found = there[path]
      if (found === undefined)
        return entry.optional === true || entry.devOptional === true || entry.peer === true
      return found.version === entry.version && found.resolved === entry.resolved
    })
  } catch {
    return false
  }
}

function packagesOf(file) {
  return JSON.parse(readFileSync(file, 'utf8')).packages
}

/** The npm that runs this, or the one on the PATH. */
function npmCommand() {
  const npm = process.env.npm_execpath
  return npm?.endsWith('.js') ? [process.execPath, npm] : ['npm']
}

async function install() {
  const began = Date.now()
  console.error('Installing the dependencies (npm ci) ...')
  // Its warnings are about this machine's Node, which only starts the other one.
  const options = ['ci', '--include=dev', '--no-audit', '--no-fund', '--loglevel=error']
  const [command, ...first] = npmCommand()
  // stdout belongs to the task: npm's words go to stderr.
  const child = spawn(command, [...first, ...options], { cwd: root, stdio: ['ignore', 2, 2] })
  const forward = signal => child.kill(signal)
  process.on('SIGINT', forward).on('SIGTERM', forward)
  const code = await new Promise(resolve => {
    child.once('error', error => resolve(error.message))
    child.once('exit', (code, signal) => resolve(code ?? signal))
  })
  process.off('SIGINT', forward).off('SIGTERM', forward)
  if (code !== 0) {
    console.error(`npm ci failed (${code}); run it by hand to see why`)
    process.exit(1)
  }
  console.error(`Dependencies installed (${Math.round((Date.now() - began) / 1000)} s)`)
}

/** npm 10 removes this link with that of the package for another processor, which it leaves out. */
function linkNode() {
  const link = join(root, 'node_modules/.bin/node')
  if (node === packaged && !existsSync(link)) symlinkSync(relative(dirname(link), packaged), link)
}

/**
 * Runs the task and ends as it ends. A Ctrl-C reaches the task from the terminal and once more from here; it takes
 * signals that come together for one. The channel closes when this process is gone, whatever ended it.
 */
function hand(command, commandArgs) {
  const child = spawn(command, commandArgs, { cwd: root, stdio: ['inherit', 'inherit', 'inherit', 'ipc'] })
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal))
  if (process.env.npm_lifecycle_event !== undefined) {
    const before = npmPid()
    setInterval(() => npmPid() !== before && child.kill('SIGTERM'), 1000).unref()
  }
  child.once('error', error => {
    console.error(`${command} could not be started: ${error.message}`)
    process.exit(1)
  })
  child.once('exit', (code, signal) => process.exit(code ?? (signal === 'SIGINT' ? 130 : 143)))
}

/**
 * The parent's id; if that is npm's shell, the id of the shell's parent. It changes when npm is killed with
 * SIGKILL, which sends no signal to its children. For the shell, on Linux only.
 */
function npmPid() {
  try {
    const stat = readFileSync(`/proc/${process.ppid}/stat`, 'utf8')
    const [, name, parent] = /\((.*)\) \S (\d+)/.exec(stat) ?? []
    return /^(sh|dash|bash)$/.test(name) ? Number(parent) : process.ppid
  } catch {
    return process.ppid
  }
}
