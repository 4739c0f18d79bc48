import { z } from 'zod'
import { evening } from './endpoint.ts'

/** RFC 7807 (docs/api.md, Problem body). */
export const problem = z
  .object({
    type: z.string().describe('A stable URI reference, answered with a page of help'),
    title: z.string(),
    status: z.int(),
    detail: z.string().describe('What happened and what to do; of invalid parameters, the first one'),
    instance: z.string().describe('The request path without its query'),
    requestId: z.guid().describe('Also in the header X-Request-Id'),
    errors: z
      .array(
        z
          .object({
            parameter: z.string().describe('The name of a parameter, or `path`'),
            message: z.string().describe('What the parameter takes'),
          })
          .meta({ id: 'ParameterError' }),
      )
      .optional()
      .describe('On a 400 about parameters only'),
  })
  .meta({ id: 'Problem' })
type Problem = z.infer<typeof problem>

/** The problems of the API: the name in `type`, the status, and the help text, with which `detail` ends. */
export const problemTypes = {
  'invalid-parameters': {
    status: 400,
    title: 'Invalid parameters',
    help: '`errors` names each parameter with an invalid value, and what it takes.',
  },
  unauthorized: {
    status: 401,
    title: 'Unauthorized',
    help: 'Send the token of a valid API key in the header `X-Api-Key`, or as `Authorization: Bearer`. Whoever manages the keys of your organization can create one.',
  },
  'missing-scope': {
    status: 403,
    title: 'Forbidden',
    help: 'The API key lacks the scope of this endpoint: `events:read` for events, `orders:read` for orders, `analytics:read` for figures. Use a key that has it.',
  },
  'not-found': {
    status: 404,
    title: 'Not found',
    help: 'The resource does not exist, or the API key has no access to it. Check the path (no slash at the end) and the ids of event, day, area, menu items and order.',
  },
  'page-too-large': {
    status: 400,
    title: 'Page too large',
    help: 'The orders of this page are too large for one answer. Ask for fewer with `pageSize`: `errors` says how many fit. A page of one order is always answered.',
  },
  'method-not-allowed': {
    status: 405,
    title: 'Method not allowed',
    help: 'The API is read-only: use GET or HEAD.',
  },
  'bad-request': { status: 400, title: 'Bad request', help: 'The request is not a valid HTTP request.' },
  'request-timeout': {
    status: 408,
    title: 'Request timeout',
    help: 'The request did not arrive completely within 10 s. Send it again over a new connection.',
  },
  'request-too-large': {
    status: 431,
    title: 'Request header fields too large',
    help: 'The request line or the headers are too long. Send only the headers that the API needs.',
  },
  'rate-limit-exceeded': {
    status: 429,
    title: 'Too many requests',
    help: 'The organization has used up its rate limit. Wait for the seconds in `Retry-After`. More keys do not raise the limit.',
  },
  'internal-error': {
    status: 500,
    title: 'Internal error',
    help: 'An unexpected error occurred. Try again; if it persists, report the `requestId`.',
  },
  'service-unavailable': {
    status: 503,
    title: 'Service unavailable',
    help: 'A part of the service is down, or it has too much to do. Try again after the seconds in `Retry-After`.',
  },
} as const
export type ProblemType = keyof typeof problemTypes

/** Which request failed: its path, its id, and if it is about parameters, what each of them takes. */
type ProblemOf = { instance: string; requestId: string; errors?: Problem['errors'] }

/** The body of a problem (docs/api.md, Problem body). But for parameters, a type has one body, whatever the reason. */
export function problemBody(type: ProblemType, { instance, requestId, errors }: ProblemOf): Problem {
  const { status, title, help } = problemTypes[type]
  return {
    type: `/problems/${type}`,
    title,
    status,
    detail: detailOf(help, errors),
    instance,
    requestId,
    errors,
  }
}

/** The first mistake in the request before the help: many programs print nothing but `detail`. */
function detailOf(help: string, [first]: NonNullable<Problem['errors']> = []): string {
  return first === undefined ? help : `${first.parameter} ${first.message}. ${help}`
}

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
