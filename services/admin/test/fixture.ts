import { randomBytes, randomUUID } from 'node:crypto'
import { beginReset, createAdministrator, hashPassword, passwordCost } from '@tally/access'
import type { EventId, OrganizationId } from '@tally/contract'
import { createLogger, createMetrics, whenReady } from '@tally/platform'
import { asRole, freshDatabase } from '@tally/testkit/servers/database'
import { connectTo } from '@tally/testkit/servers/kafka'
import { openDatabase } from '@tally/testkit/servers/migrated'
import { allKeys, openWholeRedis } from '@tally/testkit/servers/redis'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'
import type { RawBuilder } from 'kysely'
import { afterAll, beforeAll, inject } from 'vitest'
import { buildAdmin } from '../app.ts'
import type { AdminDeps } from '../deps.ts'
import { openLiveHub } from '../live/hub.ts'
import { adminMetrics } from '../metrics.ts'
import { createSealer } from '../secondFactor/codes.ts'
import { createPasswordQueue } from '../signIn/passwordQueue.ts'
import { createRecall } from '../signIn/recall.ts'

export const password = 'a long enough password'

/** Of a fixture whose tests judge what a hash costs: 0.15 s of the processor. */
export const realCost = { passwordCost }

/** 0.1 ms: the tests of a file check more than a hundred passwords. */
const cheapCost = { ln: 4, r: 8, p: 1 }

/** The area with real servers but without a port: requests are injected. */
export async function openFixture(over: Partial<AdminDeps> = {}) {
  const { kafkaBrokers, redisUrl } = inject('servers')
  const database = await freshDatabase()
  const prefix = `test-${randomBytes(6).toString('hex')}`
  const logger = createLogger('test', 'silent')
  const redis = openWholeRedis(redisUrl, { name: 'test', commandTimeoutMs: 60_000, onError: () => {} })
  await whenReady(redis, 60_000)
  const kafka = connectTo(kafkaBrokers)
  const keys = allKeys(prefix)
  const db = openDatabase(asRole(database.url, 'admin'))
  const live = openLiveHub({ db, redis, keys, topics: [`${prefix}.events`], logger })
  const deps: AdminDeps = {
    db,
    redis,
    keys,
    kafka,
    live,
    lastHour: () => [],
    logger,
    oidc: undefined,
    recall: createRecall(),
    allowsPasswords: true,
    passwordCost: cheapCost,
    queuePasswordHash: createPasswordQueue(),
    requiresSecondFactor: false,
    sealer: createSealer(['5'.repeat(64)]),
    metrics: adminMetrics(createMetrics('admin')),
    topicPrefix: prefix,
    rateLimits: { Trial: 2, ActiveDayPass: 60, Inactive: 2 },
    apiUrl: 'http://api.test',
    contact: undefined,
    publicUrl: undefined,
    trustedProxies: [],
    screenCheckMs: 15_000,
    maxConnections: 1_000,
    idleTimeoutMs: 72_000,
    ...over,
  }
  const app = await buildAdmin(deps)
  return {
    app,
    deps,
    /** As the owner of the schema; the area has its own role. */
    db: database.db,
    run: <Row>(statement: RawBuilder<Row>) => statement.execute(database.db),
    url: database.url,
    async close() {
      await app.close()
      await live.close()
      await kafka.close()
      redis.disconnect()
      await db.destroy()
      await database.drop()
    },
  }
}
export type Fixture = Awaited<ReturnType<typeof openFixture>>

/** The area for the tests of one file: opened before the first, closed after the last. */
export function useFixture(): Fixture {
  const fixture = {} as Fixture
  beforeAll(async () => {
    Object.assign(fixture, await openFixture())
  })
  afterAll(() => fixture.close?.())
  return fixture
}

/** An organization with one administrator, whose password is `password`. */
export async function newOffice({ db, deps }: Fixture, { isPlatform = false } = {}) {
  const organizationId = randomUUID() as OrganizationId
  const organization = { version: 1, name: 'Pro Loco <b>San Vito</b>', status: 'Trial', revision: 1 } as const
  await db
    .insertInto('organizations')
    .values({ organization_id: organizationId, ...organization })
    .execute()
  const email = `anna-${randomBytes(4).toString('hex')}@example.org`
  const passwordHash = await hashPassword(password, deps.passwordCost)
  await createAdministrator(db, { organizationId, email, isPlatform, passwordHash })
  return { organizationId, email }
}

/** An event of an organization with one day, which is open; with what is named otherwise. */
export async function newEvent(
  { db }: Fixture,
  organizationId: OrganizationId,
  over: {
    name?: string
    timeZone?: string
    startDate?: number
    days?: object[]
    areas?: object[]
    menuItems?: object[]
  } = {},
): Promise<EventId> {
  const eventId = randomUUID() as EventId
  const days = [{ dayId: 41, date: '2026-09-04', openedAt: 0, closedAt: null }]
  const event = {
    eventId,
    organizationId,
    version: 1,
    name: 'Sagra del Pesce',
    startDate: 0,
    timeZone: 'UTC',
    areas: [],
    days,
    menuItems: [],
    ...over,
  }
  const row = {
    event_id: eventId,
    organization_id: organizationId,
    version: 1,
    time_zone: event.timeZone,
    document: JSON.stringify(event),
  }
  await db.insertInto('events').values(row).execute()
  return eventId
}

/** A client that keeps cookies and sends forms with their token, like a browser. */
export function newVisitor(
  app: FastifyInstance,
  address = '192.0.2.1',
  { host = 'admin.test', cookies = new Map<string, string>() } = {},
) {
  const send = async (
    method: 'GET' | 'POST',
    url: string,
    { form, headers = {} }: { form?: [string, string][]; headers?: Record<string, string> } = {},
  ): Promise<LightMyRequestResponse> => {
    const reply = await app.inject({
      method,
      url,
      remoteAddress: address,
      headers: {
        host,
        cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; '),
        ...(form === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }),
        ...headers,
      },
      ...(form === undefined ? {} : { payload: new URLSearchParams(form).toString() }),
    })
    for (const { name, value } of reply.cookies) {
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    return reply
  }
  const visitor = {
    cookies,
    get: (url: string, headers: Record<string, string> = {}) => send('GET', url, { headers }),
    /** Sends a form as a page of the area would, with the token of the page `from`. */
    async post(
      url: string,
      fields: Record<string, string | string[]> = {},
      { from = '/sign-in', headers = {} }: { from?: string; headers?: Record<string, string> } = {},
    ) {
      const token = csrfOf((await visitor.get(from)).body)
      const form = Object.entries(fields).flatMap(([name, value]) =>
        [value].flat().map(one => [name, one] as [string, string]),
      )
      return send('POST', url, { form: [['_csrf', token], ...form], headers })
    },
    /** Sends a form without any token. */
    postBare: (url: string, fields: Record<string, string> = {}, headers: Record<string, string> = {}) =>
      send('POST', url, { form: Object.entries(fields), headers }),
    signIn: (email: string, given = password) => visitor.post('/sign-in', { email, password: given }),
  }
  return visitor
}

/** An administrator of a new organization who has signed in. */
export async function signedIn(fixture: Fixture, options?: Parameters<typeof newOffice>[1]) {
  const office = await newOffice(fixture, options)
  const visitor = newVisitor(fixture.app)
  await visitor.signIn(office.email)
  return { ...office, visitor }
}

/** The address of a new link that sets an administrator's password. */
export const resetPath = ({ db }: Fixture, email: string, options?: Parameters<typeof beginReset>[2]) =>
  db.transaction().execute(async tx => `/reset/${(await beginReset(tx, email, options)).token}`)

/** The form token of a page; empty without a form. */
export const csrfOf = (page: string): string => /name="_csrf" value="([^"]+)"/.exec(page)?.[1] ?? ''
