import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { tryRun } from '../command.ts'
import { installPackage } from '../install/apt.ts'
import { containerServer, hasDocker, type Image } from './container.ts'
import { cannotBeHad, type PartSetup } from './part.ts'
import { passwordIn } from './password.ts'
import { type Server, serverOf } from './server.ts'

/** A Redis 7 or later on 127.0.0.1, with a password; it keeps its data if the setup says so. */
export async function redisServer(setup: PartSetup): Promise<Server> {
  const { folder, port, logFile } = setup
  const password = passwordIn(join(folder, 'password'))
  const url = `redis://:${password}@127.0.0.1:${port}`
  const answers = () => redisAnswers(url)
  if (!(await hasRedis()) && !((await installPackage('redis-server', setup)) && (await hasRedis()))) {
    if (!(await hasDocker())) throw cannotBeHad('redis', 'install redis-server 7 or later', 'REDIS_URL')
    return containerServer(redisImage(url, setup.durable), setup)
  }

  async function prepare() {
    // A file, because everybody can see arguments.
    const config = join(folder, 'redis.conf')
    writeFileSync(config, `requirepass ${password}\n`, { mode: 0o600 })
    const where = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder]
    // Its process keeps the command line that it was started with: by it a later run knows it as its own.
    const args = [config, ...where, '--daemonize', 'no', '--set-proc-title', 'no', ...keeping(setup.durable)]
    return { command: 'redis-server', args, stopSignal: 'SIGTERM' as const }
  }
  return serverOf(
    { name: 'redis', url, port, pidFile: join(folder, 'pid'), logFile, prepare, answers },
    setup,
  )
}

const keeping = (durable: boolean) => ['--save', '', '--appendonly', durable ? 'yes' : 'no']

/** The official image, reached at `url`. */
export function redisImage(url: string, durable: boolean): Image {
  return {
    name: 'redis',
    url,
    image: 'redis:8',
    innerPort: 6379,
    innerFolder: '/data',
    env: { REDIS_PASSWORD: new URL(url).password },
    user: 'redis',
    entrypoint: ['sh', '-c', 'echo "requirepass $REDIS_PASSWORD" | exec redis-server - "$@"', 'redis'],
    args: keeping(durable),
    stopSignal: 'SIGTERM',
    answers: () => redisAnswers(url),
  }
}

/** Whether it takes commands: while it still loads its data it refuses them. */
async function redisAnswers(url: string): Promise<boolean> {
  const redis = new Redis(url, {
    lazyConnect: true,
    enableReadyCheck: false,
    retryStrategy: () => null,
    connectTimeout: 1000,
    commandTimeout: 1000,
  })
  redis.on('error', () => {})
  try {
    await redis.connect()
    return (await redis.ping()) === 'PONG'
  } finally {
    redis.disconnect()
  }
}

async function hasRedis(): Promise<boolean> {
  const printed = await tryRun('redis-server', ['--version'])
  return Number(/v=(\d+)/.exec(printed ?? '')?.[1] ?? 0) >= 7
}
