import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { UnreadAnswers } from './unread.ts'

const mebi = 2 ** 20
let server: Server
let unread: UnreadAnswers
let closed: number

beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] })
  closed = 0
  server = createServer()
  unread = new UnreadAnswers(server, connections => {
    closed += connections
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
})
afterEach(() => {
  server.closeAllConnections()
  server.close()
  vi.useRealTimers()
})

/** A connection from both its ends; the client reads nothing until it is resumed. */
async function open(): Promise<{ client: Socket; socket: Socket }> {
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  const [socket] = (await once(server, 'connection')) as [Socket]
  socket.on('error', () => {})
  client.on('error', () => {})
  return { client, socket }
}
/** Sends an answer if there is room for it; whether there was. */
function send(socket: Socket, mebibytes: number, owner?: string): boolean {
  const isReserved = unread.reserve(socket, mebibytes * mebi, owner)
  if (isReserved) socket.write('x'.repeat(mebibytes * mebi), 'latin1')
  return isReserved
}

test('a connection that takes nothing for two minutes is closed, one that takes something is not', async () => {
  const [stuck, slow] = [await open(), await open()]
  send(stuck.socket, 12)
  send(slow.socket, 36)
  for (let looks = 0; looks < 3; looks += 1) {
    const before = slow.client.bytesRead
    slow.client.resume()
    await vi.waitFor(() => expect(slow.client.bytesRead - before).toBeGreaterThan(6 * mebi), {
      interval: 1,
      timeout: 120_000,
    })
    slow.client.pause()
    await vi.waitFor(() => expect(slow.socket.writableLength).toBeGreaterThan(0), 120_000)
    vi.advanceTimersByTime(60_000)
  }
  expect([stuck.socket.destroyed, slow.socket.destroyed, closed]).toEqual([true, false, 1])
})

test('an organization has 16 MiB, and more once it has read', async () => {
  const [first, second, other] = [await open(), await open(), await open()]
  expect(send(first.socket, 16, 'o')).toBe(true)
  expect(send(second.socket, 16, 'o')).toBe(false)
  expect(send(other.socket, 16, 'other')).toBe(true)
  first.client.resume()
  await vi.waitFor(() => expect(first.socket.writableLength).toBe(0), 120_000)
  expect(send(second.socket, 16, 'o')).toBe(true)
})

test('what is over 48 MiB closes the connections that have taken nothing for the longest time', async () => {
  const connections = []
  for (let index = 0; index < 4; index += 1) {
    const connection = await open()
    expect(send(connection.socket, 15)).toBe(true)
    connections.push(connection)
    vi.advanceTimersByTime(1_000)
  }
  expect(connections.map(({ socket }) => socket.destroyed)).toEqual([true, false, false, false])
  expect(closed).toBe(1)
})
