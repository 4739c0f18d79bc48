// What `npm start` needs of the machine. run.mjs checks it before it downloads or installs anything, so it uses nothing
// but Node. servers/ decides how each server is started; what it refuses without is named here, all at once.
import { spawnSync } from 'node:child_process'
import { existsSync, statfsSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'

/** Megabytes: node_modules with npm's cache, Kafka's jars with Maven's, and data and logs of an evening. */
const room = { dependencies: 900, kafka: 200, data: 300 }
const ports = { QUERY_PORT: [0], ADMIN_PORT: [0], OPS_PORT: [0, 1, 2] }

/** Ends the process with status 1 and a list of what is missing, if anything is. */
export async function checkPrerequisites(root, { isInstalled, npm }) {
  const missing = missingOf(await lookAtMachine(root, { isInstalled, npm }))
  if (missing.length === 0) return
  console.error('npm start cannot begin; nothing was downloaded or installed. Missing:')
  for (const line of missing) console.error(`  - ${line}`)
  process.exit(1)
}

/** What a machine lacks and what to do about it, a sentence each. A server is also had from Docker, or from outside. */
export function missingOf(machine) {
  return [
    ...missingNode(machine),
    ...missingServers(machine),
    ...missingRoom(machine),
    ...machine.takenPorts.map(
      ({ name, port }) => `Port ${port} of ${name}: something listens on it. End that, or name another port.`,
    ),
    ...(machine.registryError === undefined
      ? []
      : [
          `The npm registry, for the dependencies: ${machine.registryError}. Check the network and \`npm config get registry\`.`,
        ]),
  ]
}

function missingNode({ node, platform }) {
  // npm has Node 24 for Linux only: elsewhere it is the machine's own.
  const least = platform === 'linux' ? 20 : 24
  return node >= least
    ? []
    : [`Node.js ${least} or later: this is ${node}. Install it from https://nodejs.org.`]
}

function missingServers(machine) {
  const { hasDocker, env, java, hasMaven, hasJars, redis, isRoot, hasApt, platform, arch } = machine
  if (hasDocker) return []
  const or = setting => `, or start a Docker engine, or set ${setting} to one that runs.`
  const lines = []
  if (!env.KAFKA_BROKERS && !(java >= 17))
    lines.push(
      `Java 17 or later, for Kafka${java === undefined ? '' : ` (this is ${java})`}: install it (Debian: apt-get install default-jre-headless)${or('KAFKA_BROKERS')}`,
    )
  if (!env.KAFKA_BROKERS && !hasMaven && !hasJars)
    lines.push(`Maven, which fetches Kafka: install it (Debian: apt-get install maven)${or('KAFKA_BROKERS')}`)
  if (!env.REDIS_URL && !(redis >= 7) && !(isRoot && hasApt))
    lines.push(
      `redis-server 7 or later${redis === undefined ? '' : ` (this is ${redis})`}: install it (Debian: apt-get install redis-server; as root, npm start does)${or('REDIS_URL')}`,
    )
  const hasPostgres = ['linux', 'darwin'].includes(platform) && ['x64', 'arm64'].includes(arch)
  if (!env.DATABASE_URL && !hasPostgres)
    lines.push(`Postgres: npm has none for ${platform} on ${arch}. Install it${or('DATABASE_URL')}`)
  return lines
}

function missingRoom({ freeMb, isInstalled, hasJars, env, root }) {
  const needed =
    (isInstalled ? 0 : room.dependencies) + (hasJars || env.KAFKA_BROKERS ? 0 : room.kafka) + room.data
  return freeMb >= needed ? [] : [`Free disk space: ${needed} MB in ${root}, which has ${freeMb} MB.`]
}

async function lookAtMachine(root, { isInstalled, npm }) {
  const { env, platform, arch } = process
  const { bavail, bsize } = statfsSync(root)
  const machine = {
    root,
    isInstalled,
    env,
    platform,
    arch,
    node: Number(process.versions.node.split('.')[0]),
    isRoot: process.getuid?.() === 0,
    hasApt: existsSync('/usr/bin/apt-get'),
    java: versionOf(env.JAVA_HOME ? join(env.JAVA_HOME, 'bin/java') : 'java', ['-version'], /version "(\d+)/),
    hasJars: existsSync(join(root, '.local/kafka-4.3.1/libs')),
    redis: versionOf('redis-server', ['--version'], /v=(\d+)/),
    freeMb: Math.floor((bavail * bsize) / 1_000_000),
    takenPorts: await takenPorts(env),
    registryError: isInstalled ? undefined : registryError(root, npm),
    hasMaven: true,
    hasDocker: false,
  }
  if (!machine.hasJars && !env.KAFKA_BROKERS) machine.hasMaven = runs('mvn', ['-version'])
  // Asking Docker takes longest: only if it is needed.
  if (missingServers(machine).length > 0)
    machine.hasDocker = runs('docker', ['version', '--format', '{{.Server.Version}}'])
  return machine
}

const run = (command, args, options = {}) =>
  spawnSync(command, args, { encoding: 'utf8', timeout: 20_000, ...options })

const runs = (command, args) => run(command, args).status === 0

/** The major version that a program prints, undefined if it is not installed. */
function versionOf(command, args, pattern) {
  const { status, stdout, stderr } = run(command, args)
  const version = status === 0 ? pattern.exec(`${stdout}${stderr}`)?.[1] : undefined
  return version === undefined ? undefined : Number(version)
}

/**
 * Asks the registry, as npm reaches it (through a proxy, with credentials), for one small thing that is needed. A slow
 * network gets 8 s and a second try after 1 s; 20 s for all of it.
 */
export function registryError(root, [command, ...first]) {
  const fetchLimits = ['--fetch-timeout=8000', '--fetch-retries=1', '--fetch-retry-mintimeout=1000']
  const args = ['view', 'kafkajs', 'version', ...fetchLimits, '--fetch-retry-maxtimeout=1000']
  const { status, error, stderr } = run(command, [...first, ...args], { cwd: root })
  if (status === 0) return undefined
  const reason = /npm (?:error|ERR!) (?!code|errno|syscall)(.+)/.exec(stderr ?? '')?.[1]
  return (reason ?? error?.message ?? 'it does not answer').replace(/\.$/, '')
}

/** The ports that the environment names and that are taken; of those that it does not name, free ones are found. */
async function takenPorts(env) {
  const named = Object.entries(ports).flatMap(([name, offsets]) =>
    env[name] ? offsets.map(offset => ({ name, port: Number(env[name]) + offset })) : [],
  )
  const free = await Promise.all(named.map(({ port }) => isFree(port)))
  return named.filter((_, index) => !free[index])
}

function isFree(port) {
  return new Promise(resolve => {
    const probe = createServer()
    probe.once('error', () => resolve(false))
    try {
      probe.listen({ port, host: '127.0.0.1', exclusive: true }, () => probe.close(() => resolve(true)))
    } catch {
      // Not a port: the settings say so.
      resolve(true)
    }
  })
}
