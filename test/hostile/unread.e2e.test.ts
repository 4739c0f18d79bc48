import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { useTally } from '@tally/testkit/processes/tally'
import { expect, test } from 'vitest'
import { programPath } from '#infra/install/programs.ts'
import { memoryOf } from '../bench/tally/memoryOf.ts'

const tally = useTally({ projectors: 0 })
const mebi = 2 ** 20

/** The resident memory of a process in MiB. */
const residentMiB = (pid = 0): number => memoryOf(pid).now

test('what follows an invalid request is not read while the answers before it are unread', async () => {
  const [query] = tally.queries
  const { hostname, port } = new URL(query?.address as string)
  const before = residentMiB(query?.process.pid)
  const neededBy = 'test/hostile/unread.py'
  const python = await programPath({ names: ['python3'], debianPackage: 'python3', neededBy }, () => {})
  const sender = promisify(execFile)(python, [join(import.meta.dirname, 'unread.py'), hostname, port, '400'])
  expect((await tally.get('/api/v1/events')).status).toBe(401)
  const { stdout } = await sender
  // What the buffers of the two sockets take.
  expect(Number(stdout)).toBeLessThan(50 * mebi)
  expect(residentMiB(query?.process.pid) - before).toBeLessThan(100)
})
