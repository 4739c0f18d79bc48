import { evening } from './evening.ts'
import { type ProblemOf, type ProblemType, problemBody } from './problems.ts'

const request: ProblemOf = {
  instance: `/api/v1/events/${evening.eventId}/analytics/orders/top-items`,
  requestId: '5f0c8a52-5d3e-4b0e-9d43-0c6f1d2b7a90',
}

/** What a problem says of its request: the others are of a request for top items. */
const requests: Partial<Record<ProblemType, Partial<ProblemOf>>> = {
  'invalid-parameters': {
    errors: [{ parameter: 'limit', message: 'must be a whole number from 1 to 100 in plain digits' }],
  },
  'page-too-large': {
    instance: `/api/v1/events/${evening.eventId}/orders`,
    errors: [{ parameter: 'pageSize', message: 'must be at most 13 here' }],
  },
}

/** The body of a problem of a type. */
export function problemExample(type: ProblemType) {
  return problemBody(type, { ...request, ...requests[type] })
}
