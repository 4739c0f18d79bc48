import type { Page } from 'playwright-core'

/** A file that a page loads: its last part of the path, its bytes as they were sent, and how. */
type Loaded = { name: string; bytes: number; cached: string | undefined; encoding: string | undefined }

/** Opens a page and lists what it loads until it is `ready`, in a browser that has kept nothing; its streams go on. */
export async function loadedBy(page: Page, path: string, ready: () => Promise<unknown>): Promise<Loaded[]> {
  const session = await page.context().newCDPSession(page)
  await session.send('Network.clearBrowserCache')
  const loading: Promise<Loaded>[] = []
  page.on('requestfinished', request => {
    const read = async () => {
      const [sizes, response] = await Promise.all([request.sizes(), request.response()])
      const headers = response?.headers() ?? {}
      return {
        name: new URL(request.url()).pathname.split('/').at(-1) ?? '',
        bytes: sizes.responseBodySize,
        cached: headers['cache-control'],
        encoding: headers['content-encoding'],
      }
    }
    loading.push(read())
  })
  await page.goto(path)
  await ready()
  return Promise.all(loading)
}
