import { readFileSync } from 'node:fs'
import { extname, join } from 'node:path'
import { serve } from '@tally/testkit/servers/serve'

const types: Record<string, string> = { '.html': 'text/html', '.css': 'text/css', '.js': 'text/javascript' }

/** Serves a folder on a free port of the loopback interface, as any web server would. */
export function serveFolder(folder: string) {
  return serve((request, response) => {
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const file = join(folder, pathname.endsWith('/') ? `${pathname}index.html` : pathname)
    try {
      const bytes = readFileSync(file)
      response
        .writeHead(200, { 'Content-Type': types[extname(file)] ?? 'application/octet-stream' })
        .end(bytes)
    } catch {
      response.writeHead(404).end()
    }
  })
}
