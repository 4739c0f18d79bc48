import { createHash, type Hash } from 'node:crypto'
import { ownText } from './ownText.ts'

/** A weak entity tag of an answer's content (docs/api.md, ETag and polling); `parts` omit generatedAt and asOf. */
export function weakEtag(...parts: (string | Buffer)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part).update('\n')
  return tagOf(hash)
}

/** The tag of what was hashed so far. */
export const tagOf = (hash: Hash): string => ownText(`W/"${hash.digest('base64url').slice(0, 27)}"`)

/** What proxies append to a tag when they compress an answer, before the quote that ends it. */
const suffixed = /(?:--?|;)(?:gzip|br|zstd|deflate)"$/

/** Whether an If-None-Match header matches: weak comparison, with lists, `*` (RFC 9110, 13.1.2) and suffixes. */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true
  if (ifNoneMatch.trim() === '*') return true
  const opaque = etag.slice(etag.indexOf('"'))
  // The whole tag is compared first: it may itself end like a suffix.
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)].some(
    ([, tag = '']) => tag === opaque || tag.replace(suffixed, '"') === opaque,
  )
}
