/**
 * The paths that have a GET route, for requests with another method: the router itself answers only for the
 * methods it was given.
 */
export function knownPaths() {
  const patterns: RegExp[] = []
  return {
    /** Notes a route's address, with fastify's `:name` and `*`. */
    add(url: string): void {
      const pattern = url
        .replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
        .replaceAll(/:\w+/g, '[^/]+')
        .replaceAll('*', '.*')
      patterns.push(new RegExp(`^${pattern}$`))
    },
    /** Whether a well-encoded path has a route; an escaped slash is part of its segment. */
    has: (path: string): boolean =>
      patterns.some(pattern => pattern.test(decodeURIComponent(path.replaceAll(/%2f/gi, '%252F')))),
  }
}
