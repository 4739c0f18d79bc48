import { expect, test } from 'vitest'
import { describeRedis, parseSentinels } from './redisUrl.ts'

test('sentinels are named with the master they watch, its user and password, and their own', () => {
  expect(parseSentinels('rediss+sentinel://tally:a%40b@s1:26380,[::1]:5,s3/main?sentinelPassword=c')).toEqual(
    {
      isTls: true,
      sentinels: [
        { host: 's1', port: 26_380 },
        { host: '::1', port: 5 },
        { host: 's3', port: 26_379 },
      ],
      name: 'main',
      username: 'tally',
      password: 'a@b',
      sentinelUsername: '',
      sentinelPassword: 'c',
    },
  )
  const withOwn = parseSentinels('redis+sentinel://s1:1/main?sentinelUsername=u')
  expect(withOwn).toMatchObject({ isTls: false, username: '', password: '', sentinelUsername: 'u' })
})

test.each(['redis://h:1', 'redis+sentinel://h:1', 'redis+sentinel://h,,i/main', 'redis+sentinel://h:x/main'])(
  '%s is not an address of sentinels',
  url => {
    expect(parseSentinels(url)).toBeUndefined()
  },
)

test('its text for messages has neither user nor password', () => {
  expect(describeRedis(['redis+sentinel://u:p@s1:1,s2:2/main?sentinelPassword=c'])).toBe('main of s1:1,s2:2')
  expect(describeRedis(['redis://u:p@a:1', 'redis://b:2'])).toBe('a:1,b:2')
})
