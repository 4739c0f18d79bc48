import type { FastifyInstance } from 'fastify'

/**
 * Tells whether a path has a GET route, whatever the method of a request to it: the router itself answers only for
 * the methods it was given. Call it before the routes are registered.
 */
export function knownPaths(app: FastifyInstance): (path: string) => boolean {
  const patterns: RegExp[] = []
  app.addHook('onRoute', ({ url }) => {
    const pattern = url
      .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
      .replaceAll(/:\w+/g, '[^/]+')
      .replaceAll('*', '.*')
    patterns.push(new RegExp(`^${pattern}$`))
  })
  return path => patterns.some(pattern => pattern.test(decodeURIComponent(path)))
}
