import {
  createDocument,
  type ZodOpenApiObject,
  type ZodOpenApiOperationObject,
  type ZodOpenApiPathsObject,
} from 'zod-openapi'
import { type Endpoint, envelopeComponents } from './endpoint.ts'
import { type EndpointName, endpointNames, endpoints } from './endpoints/index.ts'
import { contentHeaders, eventHeaders, headers, problemResponses, responses } from './responses.ts'

const description = `Read-only festival figures: sales net of refunds by day, hour and item, and the orders.

Send the token of an API key in \`X-Api-Key\` (or as \`Authorization: Bearer\`). The organization is always that of the key.
Money is EUR, as JSON numbers. Every 200 carries an \`ETag\`; poll with \`If-None-Match\`, and unchanged figures are a 304 without a body.

Sales (KPIs, hours, trend) are what was charged less every refund. Revenue of items is price times quantity less the
refunds of that item: discounts, refunds of money only and refunds before 2026-08-19 touch no item, so the two need not
add up to each other. KPIs, hours and trend always do. What is given back (a returned cup, a discount line) counts below
zero, so that quantities and amounts may be negative.

[Guides](/docs/guide): a first answer in several languages, polling well, and what to do about each error.`

const tags = [
  {
    name: 'Events',
    description: "The organization's events (festivals) and the day that is open. Scope `events:read`.",
  },
  {
    name: 'Analytics',
    description:
      'Sales of an event by day, hour, area and item, net of refunds, and live counts for displays. Scope `analytics:read`.',
  },
  {
    name: 'Orders',
    description: "An event's orders with their items, without any customer data. Scope `orders:read`.",
  },
]
const tagOf = { 'events:read': 'Events', 'analytics:read': 'Analytics', 'orders:read': 'Orders' }

const ifNoneMatch = {
  name: 'If-None-Match',
  in: 'header',
  description: 'The `ETag` of the last answer (or a list, or `*`): if it still matches, the answer is a 304',
  required: false,
  schema: { type: 'string' },
  example: headers.ETag.example,
} as const

/**
 * The OpenAPI 3.1 document of the API, made from the schemas that parse the requests. `contact` is the operator's
 * e-mail address or page, if the installation names one.
 */
export function openApiDocument(contact?: string) {
  const paths: ZodOpenApiPathsObject = {}
  for (const name of endpointNames) {
    paths[endpoints[name].url.replaceAll(/:(\w+)/g, '{$1}')] = { get: operation(name) }
  }
  const contents: ZodOpenApiObject = {
    openapi: '3.1.1',
    info: {
      title: 'Tally: event data API',
      version: '1.0.0',
      description,
      contact: { name: 'The operator of this service', ...reachedBy(contact) },
      license: { name: 'All rights reserved', identifier: 'LicenseRef-All-Rights-Reserved' },
    },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }, { bearer: [] }],
    tags,
    paths,
    components: {
      schemas: envelopeComponents,
      securitySchemes: {
        apiKey: {
          type: 'apiKey',
          in: 'header',
          name: 'X-Api-Key',
          description: 'The token of an API key: `tally_<keyId>_<secret>`. Recommended for devices.',
        },
        bearer: { type: 'http', scheme: 'bearer', description: 'The same token as `Authorization: Bearer`.' },
      },
      parameters: { IfNoneMatch: ifNoneMatch },
      headers,
      responses,
    },
  }
  return createDocument(contents, { override: asPromised })
}

const reachedBy = (contact: string | undefined) => {
  if (contact === undefined) return {}
  return /^https?:/.test(contact) ? { url: contact } : { email: contact }
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

function operation(name: EndpointName): ZodOpenApiOperationObject {
  const { scope, summary, rules = '', params, query, answer, example }: Endpoint = endpoints[name]
  const isList = name === 'listEvents'
  return {
    operationId: name,
    summary,
    description: `Needs the scope \`${scope}\`. ${rules}`.trim(),
    tags: [tagOf[scope]],
    requestParams: { path: params, query },
    parameters: [{ $ref: '#/components/parameters/IfNoneMatch' }],
    responses: {
      200: {
        description: 'The answer',
        headers: isList ? contentHeaders : eventHeaders,
        content: { 'application/json': { schema: answer, example } },
      },
      304: { $ref: `#/components/responses/${isList ? 'NotModifiedList' : 'NotModified'}` },
      ...Object.fromEntries(
        Object.entries(problemResponses).map(([status, response]) => [
          status,
          { $ref: `#/components/responses/${response}` },
        ]),
      ),
    },
  }
}
