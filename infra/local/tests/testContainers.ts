import { setTimeout as sleep } from 'node:timers/promises'
import type { ServerAddresses } from '@tally/testkit/servers/provided'
import { GenericContainer, getContainerRuntimeClient, type StartedTestContainer } from 'testcontainers'
import type { Image } from '../servers/container.ts'
import { kafkaImage } from '../servers/kafka.ts'
import { newPassword } from '../servers/password.ts'
import { freePort } from '../servers/ports.ts'
import { postgresImage } from '../servers/postgres.ts'
import { redisImage } from '../servers/redis.ts'
import { addressOf } from '../words.ts'

/**
 * The official images under testcontainers, for a run of the tests. Their ports on the host are chosen beforehand,
 * because Kafka has to advertise the address under which its clients reach it.
 */
export async function startContainers(
  wanted: Record<'kafka' | 'postgres' | 'redis', boolean>,
  log: (line: string) => void,
): Promise<ServerAddresses & { stop: () => Promise<void> }> {
  const { host } = (await getContainerRuntimeClient()).info.containerRuntime
  const started: StartedTestContainer[] = []
  const address = async () => `${host}:${await freePort()}`

  async function start(isWanted: boolean, image: Image): Promise<string> {
    if (!isWanted) return ''
    started.push(await startContainer(image, Number(image.url.split(':').pop()?.split('/')[0])))
    await untilAnswers(image)
    log(`${image.name} ready at ${addressOf(image.url)} (container)`)
    return image.url
  }

  const stop = async () => {
    await Promise.all(started.map(container => container.stop()))
  }
  try {
    const [kafkaBrokers, databaseUrl, redisUrl] = await Promise.all([
      start(wanted.kafka, kafkaImage(await address())),
      start(
        wanted.postgres,
        postgresImage(`postgres://postgres:${newPassword()}@${await address()}/tally`, false),
      ),
      start(wanted.redis, redisImage(`redis://:${newPassword()}@${await address()}`, false)),
    ])
    return { kafkaBrokers, databaseUrl, redisUrl, stop }
  } catch (error) {
    await stop()
    throw error
  }
}

function startContainer(image: Image, port: number): Promise<StartedTestContainer> {
  const container = new GenericContainer(image.image)
    .withEnvironment(image.env)
    .withExposedPorts({ container: image.innerPort, host: port })
    .withStartupTimeout(120_000)
  if (image.user !== undefined) container.withUser(image.user)
  if (image.entrypoint !== undefined) container.withEntrypoint(image.entrypoint)
  return (image.args.length > 0 ? container.withCommand(image.args) : container).start()
}

async function untilAnswers({ answers, name, url }: Image): Promise<void> {
  const until = Date.now() + 60_000
  while (!(await answers().catch(() => false))) {
    if (Date.now() > until) throw new Error(`${name}'s container does not answer at ${url} after 60 s`)
    await sleep(100)
  }
}
