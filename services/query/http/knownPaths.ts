/** The paths with a GET route, to answer requests with another method: the router knows only registered methods. */
export function knownPaths() {
  const patterns: RegExp[] = []
  return {
    /** Adds a route's URL, with fastify's `:name` and `*`. */
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
