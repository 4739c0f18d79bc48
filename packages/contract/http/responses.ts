import type { ZodOpenApiResponseObject } from 'zod-openapi'
import { type ProblemType, problem, problemExample, problemTypes } from './problems.ts'

type Schema = { type: 'string' | 'integer'; format?: string; pattern?: string; minimum?: number }
type Header = { description: string; required?: true; schema: Schema; example: string | number }

const count = { type: 'integer', minimum: 0 } as const

/** The headers of answers, each under its name in the document's components. */
export const headers = {
  ETag: {
    description: 'Weak entity tag of the content without `generatedAt` and `asOf`, for `If-None-Match`',
    required: true,
    schema: { type: 'string', pattern: '^W/"[\\w-]+"$' },
    example: 'W/"2V0oJ8YkX3pQm1sRz6TtUu9aBcD"',
  },
  'Cache-Control': {
    description: 'Ask again each time; shared caches keep nothing',
    required: true,
    schema: { type: 'string' },
    example: 'private, no-cache',
  },
  'Tally-As-Of': {
    description: 'As `meta.asOf`; absent if that is null',
    schema: { type: 'string', format: 'date-time' },
    example: '2026-09-05T19:31:07.100Z',
  },
  'Tally-Ignored': {
    description:
      'The names of parameters that the endpoint does not know, percent-encoded: at most ten of up to 40 characters',
    schema: { type: 'string' },
    example: 'limit',
  },
  'Retry-After': {
    description: 'Whole seconds to wait before the next request',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 12,
  },
  'WWW-Authenticate': {
    description: 'The scheme that a token may use',
    required: true,
    schema: { type: 'string' },
    example: 'Bearer',
  },
  'X-RateLimit-Limit': {
    description: 'Requests per window of 60 s',
    required: true,
    schema: { type: 'integer', minimum: 1 },
    example: 60,
  },
  'X-RateLimit-Remaining': {
    description: 'Requests left in the window',
    required: true,
    schema: count,
    example: 41,
  },
  'X-RateLimit-Reset': {
    description: 'Whole seconds until the window ends',
    required: true,
    schema: count,
    example: 12,
  },
  'X-Request-Id': {
    description: 'Id of the request',
    required: true,
    schema: { type: 'string', format: 'uuid' },
    example: '5f0c8a52-5d3e-4b0e-9d43-0c6f1d2b7a90',
  },
} as const satisfies Record<string, Header>
type HeaderName = keyof typeof headers

const rate: HeaderName[] = ['X-RateLimit-Limit', 'X-RateLimit-Remaining', 'X-RateLimit-Reset']

/** References to headers that an answer always carries. */
const always = (...names: HeaderName[]) =>
  Object.fromEntries(names.map(name => [name, { $ref: `#/components/headers/${name}` }] as const))

/** The headers of the rate limit on an answer that may be given before the key is known. */
const rateIfAuthenticated = Object.fromEntries(
  rate.map(name => {
    const { required: _, description, ...header } = headers[name] as Header
    return [name, { ...header, description: `${description}; absent if the key was not checked` }] as const
  }),
)

const ofContent: HeaderName[] = ['ETag', 'Cache-Control', 'Tally-Ignored', ...rate, 'X-Request-Id']
/** The headers of a 200 and a 304. */
export const contentHeaders = always(...ofContent)
/** The same with the time up to which everything about the event is counted. */
export const eventHeaders = always(...ofContent, 'Tally-As-Of')

const requestId = always('X-Request-Id')
const limited = always(...rate, 'X-Request-Id')
const maybeLimited = { ...rateIfAuthenticated, ...requestId }

const notModified = 'Not modified: `If-None-Match` matches. No body; costs one request of the rate limit.'

/** Another key of another organization may ask the same path: no cache may answer it with this problem. */
const notStored = {
  description: 'No cache keeps a problem',
  required: true,
  schema: { type: 'string' },
  example: 'no-store',
} as const

/** The answers that the operations share, by their name in the document's components. */
export const responses: Record<string, ZodOpenApiResponseObject> = {
  NotModifiedList: { description: notModified, headers: contentHeaders },
  NotModified: { description: notModified, headers: eventHeaders },
  BadRequest: problems(
    'A parameter has an invalid value',
    maybeLimited,
    'invalid-parameters',
    'page-too-large',
    'bad-request',
  ),
  Unauthorized: problems(
    'Token missing, malformed, wrong, expired or revoked',
    { ...always('WWW-Authenticate'), ...requestId },
    'unauthorized',
  ),
  Forbidden: problems('The key lacks the scope of the endpoint', limited, 'missing-scope'),
  NotFound: problems('Not found, or not visible to this key', maybeLimited, 'not-found'),
  RequestTimeout: problems('The request was not complete within 10 s', requestId, 'request-timeout'),
  TooManyRequests: problems(
    'Rate limit exceeded: wait `Retry-After` seconds',
    { ...always('Retry-After'), ...limited },
    'rate-limit-exceeded',
  ),
  HeadersTooLarge: problems('The request line or the headers are too long', requestId, 'request-too-large'),
  InternalError: problems('Tally failed on this request', maybeLimited, 'internal-error'),
  Unavailable: problems(
    'Temporarily unavailable: try again after `Retry-After` seconds',
    { ...always('Retry-After'), ...maybeLimited },
    'service-unavailable',
  ),
}

/** The shared answers of every operation by status; a 304 depends on the endpoint. */
export const problemResponses = {
  400: 'BadRequest',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'NotFound',
  408: 'RequestTimeout',
  429: 'TooManyRequests',
  431: 'HeadersTooLarge',
  500: 'InternalError',
  503: 'Unavailable',
} as const

function problems(
  description: string,
  carried: ZodOpenApiResponseObject['headers'],
  ...types: ProblemType[]
): ZodOpenApiResponseObject {
  const examples = types.map(
    type => [type, { summary: problemTypes[type].title, value: problemExample(type) }] as const,
  )
  return {
    description,
    headers: { ...carried, 'Cache-Control': notStored },
    content: { 'application/problem+json': { schema: problem, examples: Object.fromEntries(examples) } },
  }
}
