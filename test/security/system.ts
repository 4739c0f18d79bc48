import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { visitorAt } from '@tally/testkit/processes/visitor'
import { demoAdministrator } from '#infra/demo/firstAdministrator.ts'
import { demoKey, eventsOf, feedOrganizations, untilCounted } from '#infra/demo/firstAnswer.ts'
import { type Service, type Surroundings, startService, tally } from '#infra/demo/tally.ts'
import { startServers } from '#infra/servers/index.ts'
import { freePort } from '#infra/servers/ports.ts'

/** A Tally with one evening of orders, and what a scanner needs: addresses, a token, a path, a session's cookie. */
export type Target = { api: string; token: string; path: string; admin: string; session: string }
export type Releases = (() => Promise<unknown>)[]

/** Starts Tally with servers of its own; what stops each part is added to `releases`. */
export async function startTarget(folder: string, signal: AbortSignal, releases: Releases): Promise<Target> {
  const log = (line: string) => console.error(line)
  const servers = await startServers({
    dataFolder: join(folder, 'data'),
    logFolder: folder,
    fresh: true,
    durable: false,
    log,
    signal,
  })
  releases.push(servers.forget)
  const [query, admin, ops] = [await freePort(), await freePort(), await freePort()]
  const env = {
    KAFKA_BROKERS: servers.kafkaBrokers,
    DATABASE_URL: servers.databaseUrl,
    REDIS_URL: servers.redisUrl,
    QUERY_HOST: '127.0.0.1',
    QUERY_PORT: String(query),
    ADMIN_HOST: '127.0.0.1',
    ADMIN_PORT: String(admin),
    // Behind a proxy with TLS, as it is meant to run: cookies are for TLS only.
    ADMIN_URL: `https://127.0.0.1:${admin}`,
    OPS_HOST: '127.0.0.1',
    RATE_LIMITS: 'Trial=1000000,ActiveDayPass=1000000,Inactive=1000000',
  }
  const onDeath = (message: string) => console.error(message)
  const around: Surroundings = { env, logFolder: folder, signal, onDeath }
  const keep = async (name: string, service: Service) =>
    releases.push((await startService(name, service, around)).stop)
  await tally(['migrate'], around)
  await tally(['topics', 'create'], around)
  for (const [index, name] of ['projector', 'query', 'admin'].entries()) {
    const port = index === 0 ? ops : await freePort()
    await keep(name, {
      args: [name],
      env: { OPS_PORT: String(port) },
      readyAt: `http://127.0.0.1:${port}/readyz`,
    })
  }
  await tally(['feed', '--evenings', '1', '--orders', '200', '--rate', '0'], around)
  const api = `http://127.0.0.1:${query}`
  const key = await untilKey(() =>
    feedOrganizations(around).then(all => demoKey(api, join(folder, 'key.json'), all, around)),
  )
  const path = await untilCounted(api, key.token, signal)
  await eventsOf(api, key.token, signal)
  const file = join(folder, `administrator-${randomBytes(4).toString('hex')}.json`)
  const signIn = await demoAdministrator(file, key.organizationId, around)
  if (signIn === undefined) throw new Error('the installation has an administrator from before')
  const area = `http://127.0.0.1:${admin}`
  return { api, token: key.token, path, admin: area, session: await sessionOf(area, signIn) }
}

async function untilKey<Key>(find: () => Promise<Key | undefined>): Promise<Key> {
  for (const until = Date.now() + 60_000; Date.now() < until; ) {
    const key = await find()
    if (key !== undefined) return key
  }
  throw new Error('no organization is known after 60 s')
}

/** Signs in as a browser does; returns the cookies. */
async function sessionOf(
  area: string,
  { email, password }: { email: string; password: string },
): Promise<string> {
  const visitor = visitorAt(area)
  const { status } = await visitor.post('/sign-in', { email, password })
  if (!visitor.cookie().includes('tally_session_')) throw new Error(`the sign-in was refused: ${status}`)
  return visitor.cookie()
}
