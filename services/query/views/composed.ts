import { weakEtag } from '../http/etag.ts'

/**
 * The content of an answer with its entity tag, composed once per revision. `data` is the beginning of the body,
 * `{"data":…`, in UTF-8, with one character per byte (Node calls that `latin1`): encoding 7 kB of text for each request
 * took 20 % of the time of a hot one, and Node writes a text together with the headers, unlike a Buffer.
 */
export type Composed = { data: string; etag: string }

/** JSON and entity tag of an answer's data; `meta` holds the fields of `meta` that belong to the content. */
export function compose(data: unknown, ...meta: unknown[]): Composed {
  return composeText(JSON.stringify(data), ...meta)
}

/** As `compose`, for data that is JSON already. */
export function composeText(data: string, ...meta: unknown[]): Composed {
  return {
    data: Buffer.from(`{"data":${data}`).toString('latin1'),
    etag: weakEtag(data, JSON.stringify(meta)),
  }
}
