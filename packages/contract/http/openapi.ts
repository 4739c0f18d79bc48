import type { z } from 'zod'
import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi'
import { problem } from './answers.ts'
import { type Endpoint, endpoints } from './endpoints.ts'

const description = `Read-only festival figures: sales net of refunds by day, hour and item, and the orders.

Send the token of an API key in \`X-Api-Key\` (or as \`Authorization: Bearer\`). The organization is always that of the key.
Money is EUR, as JSON numbers. Every 200 carries an \`ETag\`; poll with \`If-None-Match\` and unchanged figures cost no body.

Sales (KPIs, hours, trend) are what was charged less every refund. Revenue of items is price times quantity less the
refunds of that item: discounts, refunds of money only and refunds before 2026-08-19 touch no item, so the two need not
add up to each other. KPIs, hours and trend always do.`

const problems = {
  400: 'A parameter has an invalid value',
  401: 'Token missing, malformed, wrong, expired or revoked',
  403: 'The key lacks the scope of the endpoint',
  404: 'Not found, or not visible to this key',
  429: 'Rate limit exceeded: wait `Retry-After` seconds',
  503: 'Temporarily unavailable: try again after `Retry-After` seconds',
} as const

/** The OpenAPI 3.1 document of the API, made from the schemas that parse the requests. */
export function openApiDocument(serverUrl = '/') {
  const paths: ZodOpenApiPathsObject = {}
  for (const [operationId, endpoint] of Object.entries(endpoints)) {
    paths[endpoint.url.replaceAll(/:(\w+)/g, '{$1}')] = { get: operation(operationId, endpoint) }
  }
  const contents: ZodOpenApiObject = {
    openapi: '3.1.1',
    info: { title: 'Tally: event data API', version: '1.0.0', description },
    servers: [{ url: serverUrl }],
    security: [{ apiKey: [] }, { bearer: [] }],
    paths,
    components: {
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
        bearer: { type: 'http', scheme: 'bearer' },
      },
    },
  }
  return createDocument(contents, { override: asPromised })
}

/**
 * What a schema promises to clients, which may be less than what it checks: fields may be added at any time
 * (docs/api.md, Versioning), and a format needs no pattern.
 */
function asPromised({ jsonSchema }: { jsonSchema: Record<string, unknown> }): void {
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
  if (jsonSchema.format !== undefined || jsonSchema.type === 'integer') delete jsonSchema.pattern
  if (jsonSchema.type === 'integer') {
    if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
    if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  }
}

function operation(
  operationId: string,
  { scope, summary, params, query, answer }: Endpoint,
): ZodOpenApiOperationObject {
  return {
    operationId,
    summary,
    description: `Needs the scope \`${scope}\`.`,
    tags: [scope],
    requestParams: { path: params as z.ZodObject, query: query as z.ZodObject },
    responses: {
      200: {
        description: 'The answer',
        headers: answerHeaders,
        content: { 'application/json': { schema: answer } },
      },
      304: { description: 'Not modified: `If-None-Match` matches' },
      ...Object.fromEntries(
        Object.entries(problems).map(([status, description]) => [
          status,
          { description, content: { 'application/problem+json': { schema: problem } } },
        ]),
      ),
    },
  }
}

const header = (description: string) => ({ description, schema: { type: 'string' as const } })
const answerHeaders = {
  ETag: header('Weak entity tag of the content'),
  'Tally-As-Of': header('As `meta.asOf`; absent if that is null'),
  'X-RateLimit-Limit': header('Requests per window of 60 s'),
  'X-RateLimit-Remaining': header('Requests left in the window'),
  'X-RateLimit-Reset': header('Seconds until the window ends'),
  'X-Request-Id': header('Id of the request'),
}
