import { expect, test } from 'vitest'
import { matchesEtag } from './etag.ts'

const etag = 'W/"abc-br"'

test.for([
  'W/"abc-br"',
  '"abc-br"',
  '*',
  ' W/"x", W/"abc-br"',
  'W/"abc-br-gzip"',
  'W/"abc-br--gzip"',
  'W/"abc-br-br"',
  'W/"abc-br-zstd"',
  'W/"abc-br;gzip"',
  'W/"x-gzip", W/"abc-br-gzip"',
])('what a proxy appends when it compresses hides no match: %s', ifNoneMatch => {
  expect(matchesEtag(ifNoneMatch, etag)).toBe(true)
})

test.for([
  'W/"abc"',
  'W/"abc-gzip"',
  'W/"abc-br-gzip-gzip"',
  'W/"abc-brgzip"',
  'W/"abc-br-other"',
  'W/"-gzip"',
  '',
])('another tag does not match: %s', ifNoneMatch => {
  expect(matchesEtag(ifNoneMatch, etag)).toBe(false)
})
