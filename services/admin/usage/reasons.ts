/** Why requests were not answered, by HTTP status (docs/api.md, Problem body). */
const reasons: Record<number, string> = {
  400: 'invalid request',
  401: 'revoked or expired key',
  403: 'missing scope',
  404: 'no such event or path',
  429: 'rate limit',
  503: 'a part was down',
}

export const refusalReason = (status: number): string => reasons[status] ?? 'error'

/** Errors among requests by status, the most frequent first. */
export const errorsOf = (counts: Map<number, number>): { status: number; requests: number }[] =>
  [...counts]
    .filter(([status]) => status >= 400)
    .map(([status, requests]) => ({ status, requests }))
    .toSorted((one, other) => other.requests - one.requests)
