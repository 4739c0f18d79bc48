import { createLogger } from '@tally/platform'
import { expect, test, vi } from 'vitest'
import { newVisitor, openFixture } from '../test/fixture.ts'

async function warningsWith(trustedProxies: string[], headers: Record<string, string>): Promise<unknown[]> {
  const logger = createLogger('test', 'silent')
  const warn = vi.spyOn(logger, 'warn')
  const fixture = await openFixture({ trustedProxies, logger })
  try {
    const visitor = newVisitor(fixture.app, '10.0.0.7')
    for (let times = 0; times < 3; times++) await visitor.get('/sign-in', headers)
    return warn.mock.calls
  } finally {
    await fixture.close()
  }
}
const forwarded = { 'x-forwarded-for': '203.0.113.9', 'x-forwarded-proto': 'https' }

test('a proxy that is not declared is named in the log once, with both settings', async () => {
  expect(await warningsWith([], forwarded)).toEqual([
    [{ address: '10.0.0.7' }, expect.stringMatching(/ADMIN_TRUSTED_PROXIES and ADMIN_URL$/)],
  ])
})

test('a declared proxy, and a client without one, cause no warning', async () => {
  expect(await warningsWith(['10.0.0.0/8'], forwarded)).toEqual([])
  expect(await warningsWith([], {})).toEqual([])
})
