import { setImmediate as turn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { composeList, composeText, matchesEtag } from './answer.ts'

test.for([
  { what: 'no item', items: [] },
  { what: 'one', items: ['{"name":"Caffè 🍝"}'] },
  { what: 'large ones', items: Array.from({ length: 8 }, (_, n) => `"${n}${'ò'.repeat(300_000)}"`) },
])('a list of $what has the bytes and the tag of the same text', async ({ items }) => {
  const meta = { page: 1 }
  const {
    chunk = Buffer.alloc(0),
    text,
    etag,
  } = await composeList(
    items.map(item => [item.slice(0, 5), item.slice(5)]),
    meta,
  )
  expect({ text: chunk.toString('latin1') + text, etag }).toEqual(composeText(`[${items.join(',')}]`, meta))
})

test('others are answered while a large list is composed', async () => {
  let turns = 0
  let isOver = false
  const others = (async () => {
    for (; !isOver; await turn()) turns += 1
  })()
  await composeList(Array.from({ length: 8 }, () => ['"', `${'o'.repeat(600_000)}"`]))
  isOver = true
  await others
  expect(turns).toBeGreaterThanOrEqual(8)
})

const etag = 'W/"abc-br"'

test.for([
  'W/"abc-br"',
  '"abc-br"',
  '*',
  ' * ',
  ' W/"x", W/"abc-br"',
  'W/"a,b","abc-br" , "y"',
  'W/"abc-br-gzip"',
  'W/"abc-br--gzip"',
  'W/"abc-br-br"',
  'W/"abc-br-zstd"',
  'W/"abc-br;gzip"',
  'W/"x-gzip", W/"abc-br-gzip"',
])(
  'a tag matches weakly, in a list, as *, and with what a proxy appends when it compresses: %s',
  ifNoneMatch => {
    expect(matchesEtag(ifNoneMatch, etag)).toBe(true)
  },
)

test.for([
  'W/"abc"',
  'W/"abc-gzip"',
  'W/"abc-br-gzip-gzip"',
  'W/"abc-brgzip"',
  'W/"abc-br-other"',
  'W/"-gzip"',
  'W/"abc-brx"',
  '"xabc-br"',
  '"x"',
  'abc-br',
  '"*"',
  '',
])('another tag does not match: %s', ifNoneMatch => {
  expect(matchesEtag(ifNoneMatch, etag)).toBe(false)
})
