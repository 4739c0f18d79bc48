import { expect, test } from 'vitest'
import { networksOf } from './attempts.ts'

test.each([
  ['192.0.2.1', ['192.0.2.1']],
  ['2001:db8:1:2::9', ['2001:db8:1:2', '2001:db8:1']],
  ['1::2:3:4:5:6:7', ['1:0:2:3', '1:0:2']],
  ['::1', ['0:0:0:0', '0:0:0']],
  ['unknown', ['unknown']],
])('%s is of the networks %j', (address, networks) => {
  expect(networksOf(address)).toEqual(networks)
})
