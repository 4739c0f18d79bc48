import { type Browser, type BrowserContext, type BrowserContextOptions, chromium } from 'playwright-core'
import { chromiumPath } from '#infra/install/chromium.ts'

/** Chromium's own requests, which have nothing to do with the pages. */
const quiet = ['--disable-background-networking', '--disable-component-update', '--disable-sync']
const args = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', ...quiet]
let opened: Promise<Browser> | undefined

/** A new visitor in the browser that all files of a worker share. A file closes its contexts. May install Chromium. */
export async function openContext(options: BrowserContextOptions = {}): Promise<BrowserContext> {
  opened ??= chromiumPath(line => void process.stderr.write(`${line}\n`)).then(executablePath =>
    chromium.launch({ executablePath, args }),
  )
  const context = await (await opened).newContext({ locale: 'en-GB', ...options })
  // As of `until`: only to end a test that would never end.
  context.setDefaultTimeout(120_000)
  return context
}
