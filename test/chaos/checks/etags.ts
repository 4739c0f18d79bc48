import { createHash } from 'node:crypto'
import type { Reply } from '@tally/testkit/processes/http'
import type { Wrongs } from './wrong.ts'

/** Every ETag that any query process has returned in this run, with the body it stood for. */
export type Etags = {
  /** Notes a 200: its ETag must never have stood for another body; `generatedAt` and `asOf` do not count. */
  note: (url: string, reply: Reply, where: string) => void
  /** The last 200 of a URL, to ask with its ETag. */
  last: (url: string) => Reply | undefined
  /** The meaning of a 304: the body that its ETag stands for, with the `asOf` of the 304. */
  unchanged: (known: Reply, reply: Reply) => Reply
  count: () => number
}

export function openEtags(wrongs: Wrongs): Etags {
  const digests = new Map<string, string>()
  const latest = new Map<string, Reply>()
  return {
    note(url, reply, where) {
      const { etag } = reply.headers
      if (etag === undefined) return wrongs.add('every 200 has an ETag', where)
      const key = `${url} ${etag}`
      const digest = digestOf(reply.text)
      const known = digests.get(key)
      if (known !== undefined && known !== digest)
        wrongs.add(
          'no ETag stands for two bodies',
          `${where}: ${etag} now stands for ${reply.text.slice(0, 400)}`,
        )
      digests.set(key, known ?? digest)
      latest.set(url, reply)
    },
    last: url => latest.get(url),
    unchanged(known, { headers }) {
      const asOf = headers['tally-as-of'] ?? null
      return { ...known, headers, body: { ...known.body, meta: { ...known.body.meta, asOf } } }
    },
    count: () => digests.size,
  }
}

function digestOf(text: string): string {
  const same = text.replace(/"generatedAt":"[^"]*"/, '').replace(/"asOf":("[^"]*"|null)/, '')
  return createHash('sha1').update(same).digest('base64')
}
