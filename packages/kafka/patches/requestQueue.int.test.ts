import { setTimeout as sleep } from 'node:timers/promises'
import { logOf, producerForTest } from '@tally/testkit/servers/kafka'
import { expect, onTestFinished, test, vi } from 'vitest'

test('a connection with nothing to send arms no timers, and Node warns of none', async () => {
  const { connection, topic } = await logOf()
  const warnings: Error[] = []
  const onWarning = (warning: Error): void => void warnings.push(warning)
  process.on('warning', onWarning)
  onTestFinished(() => void process.off('warning', onWarning))
  const producer = await producerForTest(connection)
  await producer.send([{ topic, key: 'k', value: 'v' }])

  const armed = vi.spyOn(globalThis, 'setTimeout')
  await sleep(300)
  const count = armed.mock.calls.length
  armed.mockRestore()

  // Without the patch it is one a millisecond for each of the two connections.
  expect(count).toBeLessThan(5)
  expect(warnings.filter(({ name }) => name === 'TimeoutNegativeWarning')).toEqual([])
})
