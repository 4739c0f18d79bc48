import { hash } from 'node:crypto'

/** A weak entity tag of what an answer says (decisions.md, Answers); `parts` leave generatedAt and asOf out. */
export function weakEtag(...parts: string[]): string {
  return `W/"${hash('sha256', parts.join('\n'), 'base64url').slice(0, 27)}"`
}

/** Whether an If-None-Match header matches: weak comparison, lists, `*` (RFC 9110, 13.1.2). */
export function matchesEtag(ifNoneMatch: string, etag: string): boolean {
  if (ifNoneMatch === etag) return true
  if (ifNoneMatch.trim() === '*') return true
  const opaque = etag.slice(etag.indexOf('"'))
  return [...ifNoneMatch.matchAll(/(?:W\/)?("[^"]*")/g)].some(([, tag]) => tag === opaque)
}
