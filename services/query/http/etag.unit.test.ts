import { expect, test } from 'vitest'
import { matchesEtag } from './answer.ts'

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
