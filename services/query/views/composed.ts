import { weakEtag } from '../http/etag.ts'

/** What an answer says, as JSON, with its entity tag; made once for a revision. */
export type Composed = { data: string; etag: string }

/** JSON and entity tag of an answer's data; `meta` is whatever of `meta` belongs to what the answer says. */
export function compose(data: unknown, ...meta: unknown[]): Composed {
  return composeText(JSON.stringify(data), ...meta)
}

/** As `compose`, of data that is JSON already. */
export function composeText(data: string, ...meta: unknown[]): Composed {
  return { data, etag: weakEtag(data, JSON.stringify(meta)) }
}
