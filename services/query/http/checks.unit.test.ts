import { endpoints } from '@tally/contract'
import { expect, test } from 'vitest'
import { createParameters } from './checks.ts'

const eventId = '7c1e0000-0000-4000-8000-000000000001'
const { parse } = createParameters()
const parsed = (query: string) =>
  parse(endpoints.listOrders, { params: { eventId }, query, raw: { url: `/?${query}` } } as never)

test.each([
  ['one', 'limit=1', 'limit'],
  ['none', 'pageSize=3&page=1', undefined],
  ['two, one of them twice', 'limit=1&foo=2&limit=3', 'limit, foo'],
  ['names of JavaScript', 'constructor=1&__proto__=1&toString', 'constructor, __proto__, toString'],
  ['an escape', 'li%6dit=1', 'limit'],
  ['what would end the header', 'a%0d%0aB:%20c=1&a%0ab&a%00b', 'a%0D%0AB%3A%20c, a%0Ab, a%00b'],
  ['what would begin another value', 'a%2cb&a+b&a%22b', 'a%2Cb, a%20b, a%22b'],
  ['what is beyond ASCII', '%c3%a9&%f0%9f%8d%95', '%C3%A9, %F0%9F%8D%95'],
  ['a list as some libraries write it', 'menuItemIds[]=7&menuItemIds[]=9', 'menuItemIds%5B%5D'],
  ['a long one', `${'a'.repeat(40)}=1&${'b'.repeat(41)}=1`, 'a'.repeat(40)],
  ['a token', `tally_0123456789ab_${'s'.repeat(49)}`, undefined],
  [
    'thousands',
    Array.from({ length: 3_000 }, (_, index) => `p${index}`).join('&'),
    'p0, p1, p2, p3, p4, p5, p6, p7, p8, p9',
  ],
])('the names of unknown parameters fit a header: %s', (_, query, names) => {
  const found = parsed(query)
  expect(found).toHaveProperty('query')
  expect((found as { ignored?: string }).ignored).toBe(names)
})

test('an unknown status names those that there are', () => {
  expect(parsed('status=x')).toEqual({
    errors: [
      {
        parameter: 'status',
        message: 'must be one of PreOrder, Pending, Paid, Preparing, ReadyForPickup, Completed, Cancelled',
      },
    ],
  })
})
