import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createAdministrator, hashPassword } from '@tally/access'
import type { OrganizationId } from '@tally/contract'
import { startTally, type Tally } from '@tally/testkit/processes/tally'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { localFolder } from '#infra/folder.ts'
import { chromiumPath } from '#infra/install/chromium.ts'

const password = 'un gelato al pistacchio'
/** What a hash costs is judged in services/admin: here a check takes 0.1 ms instead of 0.15 s. */
const cheapHash = () => hashPassword(password, { ln: 4, r: 8, p: 1 })

export type Fixture = {
  tally: Tally
  /** The administration area's address. */
  area: string
  browser: Browser
  /** Makes an administrator of a known organization, and returns the e-mail. */
  administrator(organizationId: string, more?: { isPlatform: boolean }): Promise<string>
  close(): Promise<void>
}

/** All of Tally with the administration area, and a browser. The first time it may have to be installed. */
export async function openFixture(): Promise<Fixture> {
  const executablePath = await chromiumPath(line => void process.stderr.write(`${line}\n`))
  const tally = await startTally({ settings: { RATE_LIMITS: 'Trial=5,ActiveDayPass=60,Inactive=2' } })
  const { address } = await tally.startAdmin({
    ADMIN_API_URL: tally.queries[0]?.address ?? '',
    ADMIN_SECRET_KEY: randomBytes(32).toString('hex'),
  })
  const browser = await chromium.launch({
    executablePath,
    args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet],
  })
  let made = 0
  return {
    tally,
    area: address,
    browser,
    async administrator(organizationId, { isPlatform } = { isPlatform: false }) {
      const email = `anna${++made}@example.org`
      const passwordHash = await cheapHash()
      const wanted = { organizationId: organizationId as OrganizationId, email, isPlatform, passwordHash }
      await createAdministrator(tally.database.db, wanted)
      return email
    },
    async close() {
      await browser.close()
      await tally.stop()
    },
  }
}

/** Chromium's own requests, which have nothing to do with the pages. */
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync']

export type Watched = { page: Page; wrongs: string[] }

/** A new visitor; `wrongs` collects every request to another host, every error and all that the policy stopped. */
export async function visit(
  { browser, area }: Fixture,
  options: BrowserContextOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({
    baseURL: area,
    viewport: { width: 1280, height: 860 },
    permissions: ['clipboard-read', 'clipboard-write'],
    locale: 'en-GB',
    timezoneId: 'Europe/Rome',
    ...options,
  })
  // As of `until`: only to end a test that would never end.
  context.setDefaultTimeout(120_000)
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

const folder = localFolder('screenshots')
const ofReadme = join(import.meta.dirname, '../../services/admin/screenshots')

/** Pictures are to look at: no test judges them. */
export const takesPictures = process.env.UPDATE_SCREENSHOTS === '1'

/**
 * With UPDATE_SCREENSHOTS=1, takes a screenshot to look at after the tests; with `isForReadme`, also the one that the
 * documentation shows.
 */
export async function picture(page: Page, name: string, isForReadme = false): Promise<void> {
  if (!takesPictures) return
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
  if (isForReadme) {
    mkdirSync(ofReadme, { recursive: true })
    await page.screenshot({ path: join(ofReadme, `${name}.png`) })
  }
}
