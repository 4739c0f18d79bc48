import { randomBytes } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { runTally } from '@tally/testkit/processes/process'
import { startTally, type Tally } from '@tally/testkit/processes/tally'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { localFolder } from '#infra/folder.ts'
import { chromiumPath } from '#infra/install/chromium.ts'

const password = 'un gelato al pistacchio'

export type Fixture = {
  tally: Tally
  /** The administration area's address. */
  area: string
  browser: Browser
  /** Makes an administrator of a known organization, by the program, and returns the e-mail. */
  administrator(organizationId: string, ...more: string[]): Promise<string>
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
    async administrator(organizationId, ...more) {
      const email = `anna${++made}@example.org`
      const command = [
        'administrators',
        'create',
        '--organization',
        organizationId,
        '--email',
        email,
        ...more,
      ]
      const { code, stderr } = await runTally(command, tally.settings, `${password}\n`)
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
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

export async function signIn(page: Page, email: string, given = password): Promise<void> {
  await page.goto('/sign-in')
  await page.getByLabel('E-mail').fill(email)
  await page.getByLabel('Password').fill(given)
  await page.getByRole('button', { name: 'Sign in' }).click()
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

/** Takes a screenshot to look at after the tests; with `isForReadme`, also the one that the documentation shows. */
export async function picture(page: Page, name: string, isForReadme = false): Promise<void> {
  mkdirSync(folder, { recursive: true })
  await page.screenshot({ path: join(folder, `${name}.png`) })
  if (isForReadme && process.env.UPDATE_SCREENSHOTS === '1') {
    mkdirSync(ofReadme, { recursive: true })
    await page.screenshot({ path: join(ofReadme, `${name}.png`) })
  }
}
