import { once } from 'node:events'
import { type AddressInfo, connect, createServer } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { openRelay } from './relay.ts'

const chunks = 200

test('chunks stay in order while the delay changes and timers are late', async () => {
  const echo = createServer(socket => void socket.pipe(socket)).listen(0, '127.0.0.1')
  await once(echo, 'listening')
  const relay = await openRelay({ host: '127.0.0.1', port: (echo.address() as AddressInfo).port })
  const client = connect({ host: '127.0.0.1', port: relay.port, noDelay: true })
  let received = ''
  client.on('data', bytes => {
    received += bytes
  })
  let sent = ''
  for (let number = 0; number < chunks; number++) {
    const chunk = `${number} `
    sent += chunk
    client.write(chunk)
    relay.slow([20, 5, 0, 12][Math.floor(number / 5) % 4] as number)
    const busyUntilMs = performance.now() + (number % 3) * 3
    while (performance.now() < busyUntilMs);
    await sleep(1)
  }
  await expect.poll(() => received.length).toBe(sent.length)
  expect(received).toBe(sent)
  client.destroy()
  await relay.close()
  echo.close()
})
