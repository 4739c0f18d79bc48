import type { FastifyRequest } from 'fastify'
import { expect, test } from 'vitest'
import { createPasswordQueue, knownAsker, type PasswordQueue, strangerAt } from './passwordQueue.ts'

const at = (ip: string) => strangerAt({ ip } as FastifyRequest)

test('ten strangers wait, one of each network; who is known waits for none of them', async () => {
  const queuePasswordHash = createPasswordQueue()
  const gate = Promise.withResolvers<void>()
  const order: string[] = []
  const ask = (asker: Parameters<PasswordQueue>[0]) =>
    queuePasswordHash(asker, async () => {
      order.push(asker.from)
      await gate.promise
    }).catch(({ status, retryAfterSeconds }) => [status, retryAfterSeconds])
  const running = [ask(at('198.51.100.1')), ask(at('198.51.100.1'))]
  const networks = Array.from({ length: 10 }, (_, n) => `2001:db8:0:${n}`)
  const waiting = networks.map(network => ask(at(`${network}::1`)))
  // A further address of a network that waits, and then a network too many.
  expect(await ask(at('2001:db8:0:9::2'))).toEqual([503, 5])
  expect(await ask(at('203.0.113.1'))).toEqual([503, 5])
  waiting.push(ask(knownAsker('anna')), ask(knownAsker('berta')))
  expect(await ask(knownAsker('anna'))).toEqual([503, 5])
  gate.resolve()
  await Promise.all([...running, ...waiting])
  expect(order).toEqual(['198.51.100.1', '198.51.100.1', 'anna', 'berta', ...networks])
})

test('a failed check gives its turn to the next', async () => {
  const queuePasswordHash = createPasswordQueue()
  const results = await Promise.allSettled(
    ['a', 'b', 'c', 'd'].map(account =>
      queuePasswordHash(knownAsker(account), () => Promise.reject(new Error('x'))),
    ),
  )
  expect(results.map(({ status }) => status)).toEqual(Array(4).fill('rejected'))
  expect(await queuePasswordHash(knownAsker('a'), async () => 'its turn')).toBe('its turn')
})
