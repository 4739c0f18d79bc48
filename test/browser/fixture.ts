import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAdministrator, hashPassword } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import { startTally, type Tally } from '@tally/testkit/processes/tally'
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { localFolder } from '#infra/folder.ts'
import { openContext } from './browser.ts'

const password = 'un gelato al pistacchio'
/** What a hash costs is judged in services/admin: here a check takes 0.1 ms instead of 0.15 s. */
const cheapHash = () => hashPassword(password, { ln: 4, r: 8, p: 1 })

export type Fixture = {
  tally: Tally
  /** The administration area's address. */
  area: string
  /** The visitors' contexts. */
  contexts: BrowserContext[]
  /** Makes an administrator of a known organization, and returns the e-mail. */
  administrator(organizationId: string, more?: { isPlatform: boolean }): Promise<string>
  close(): Promise<void>
}

/** All of Tally with the administration area, for a file. `prepare` runs first; a test's visitors leave after it. */
export function useFixture(prepare: (fixture: Fixture) => Promise<unknown>): Fixture {
  const fixture = { contexts: [] as BrowserContext[] } as Fixture
  let kept = 0
  const leave = (from: number) => Promise.all(fixture.contexts.splice(from).map(context => context.close()))
  beforeAll(async () => {
    await openFixture(fixture)
    await prepare(fixture)
    kept = fixture.contexts.length
  }, 300_000)
  afterEach(() => leave(kept))
  afterAll(async () => {
    await leave(0)
    await fixture.close?.()
  })
  return fixture
}

async function openFixture(fixture: Fixture): Promise<void> {
  const tally = await startTally({ settings: { RATE_LIMITS: 'Trial=5,ActiveDayPass=60,Inactive=2' } })
  Object.assign(fixture, { tally, close: tally.stop })
  const { address } = await tally.startAdmin({
    ADMIN_API_URL: tally.queries[0]?.address ?? '',
    ADMIN_SECRET_KEY: randomBytes(32).toString('hex'),
  })
  let made = 0
  const administrator: Fixture['administrator'] = async (
    organizationId,
    { isPlatform } = { isPlatform: false },
  ) => {
    const email = `anna${++made}@example.org`
    const passwordHash = await cheapHash()
    const wanted = { organizationId: organizationId as OrganizationId, email, isPlatform, passwordHash }
    await createAdministrator(tally.database.db, wanted)
    return email
  }
  Object.assign(fixture, { area: address, administrator })
}

export type Watched = { page: Page; wrongs: string[] }

/** A new visitor; `wrongs` collects every request to another host, every error and all that the policy stopped. */
export async function visit(
  { contexts, area }: Fixture,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await openContext({
    baseURL: area,
    viewport: { width: 1280, height: 860 },
    permissions: ['clipboard-read', 'clipboard-write'],
    timezoneId: 'Europe/Rome',
    ...options,
  })
  contexts.push(context)
  const page = await context.newPage()
  const wrongs: string[] = []
  page.on('request', request => {
    if (!request.url().startsWith(area)) wrongs.push(`asked ${request.url()}`)
  })
  page.on('pageerror', error => wrongs.push(`threw ${error.message}`))
  page.on('console', message => {
    if (/Content Security Policy/i.test(message.text())) wrongs.push(message.text())
  })
  return { page, wrongs }
}

export async function enterPassword(page: Page, email: string, given = password): Promise<void> {
  await page.goto('/sign-in')
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(given)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

export async function signIn(page: Page, email: string, given = password): Promise<void> {
  await enterPassword(page, email, given)
  await page.waitForURL(/\/live/)
}

/** Follows the first link of that name and waits for its page: a click alone does not wait for the page. */
export async function follow(page: Page, name: string): Promise<void> {
  const link = page.getByRole('link', { name }).first()
  const address = new URL((await link.getAttribute('href')) ?? '', page.url())
  await link.click()
  await page.waitForURL(String(address))
}

/** Copies by the first button for that, which does nothing before the page's scripts have run. */
export async function copyFirst(page: Page): Promise<void> {
  await page.waitForLoadState()
  await page.getByRole('button', { name: 'Copy' }).first().click()
  await page.getByRole('button', { name: 'Copied' }).waitFor()
}

const folder = localFolder('screenshots')
const ofReadme = join(import.meta.dirname, '../../services/admin/screenshots')

/** Pictures are to look at: no test judges them. */
export const takesPictures = process.env.UPDATE_SCREENSHOTS === '1'

/** With UPDATE_SCREENSHOTS=1 takes a screenshot to look at; with `isForReadme`, also the one of the documentation. */
export async function picture(page: Page, name: string, isForReadme = false): Promise<void> {
  if (!takesPictures) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
  if (isForReadme) {
    mkdirSync(ofReadme, { recursive: true })
    await page.screenshot({ path: join(ofReadme, `${name}.png`) })
  }
}
