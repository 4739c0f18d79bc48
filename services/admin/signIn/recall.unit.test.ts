import type { Postgres } from '@tally/platform'
import { expect, test } from 'vitest'
import { createRecall } from './recall.ts'

const minuteMs = 60_000
const down = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

/** A Postgres that answers with these rows, or fails. */
function postgres(answer: () => object[]): Postgres {
  const executor = {
    transformQuery: (node: unknown) => node,
    compileQuery: () => ({ sql: '', parameters: [] }),
    executeQuery: async () => ({ rows: answer() }),
  }
  return { getExecutor: () => executor } as unknown as Postgres
}

function given({ isPlatform }: { isPlatform: boolean }) {
  let answer = (): object[] => [
    { sessionId: 1, administratorId: 'anna', isPlatform, isStale: false, hasApp: false, hasPasskey: false },
  ]
  let nowMs = 0
  const recall = createRecall(() => nowMs)
  const ask = (mayRecall = true) =>
    recall.find(
      postgres(() => answer()),
      'token',
      mayRecall,
    )
  return {
    ask,
    forget: recall.forget,
    passes: (ms: number) => {
      nowMs += ms
    },
    fails: (error: Error) => {
      answer = () => {
        throw error
      }
    },
    ends: () => {
      answer = () => []
    },
  }
}

test('a session of the platform team holds for 30 minutes after Postgres was last asked, not longer', async () => {
  const { ask, passes, fails } = given({ isPlatform: true })
  await ask()
  fails(down)
  passes(30 * minuteMs)
  expect(await ask()).toMatchObject({ sessionId: 1 })
  passes(1)
  await expect(ask()).rejects.toThrow('ECONNREFUSED')
})

test('it holds only where it may, and no other error is an outage', async () => {
  const { ask, fails } = given({ isPlatform: true })
  await ask()
  fails(down)
  await expect(ask(false)).rejects.toThrow('ECONNREFUSED')
  fails(new Error('a mistake'))
  await expect(ask()).rejects.toThrow('a mistake')
})

test('a session that has ended, or of another administrator, is not kept', async () => {
  const ended = given({ isPlatform: true })
  await ended.ask()
  ended.ends()
  expect(await ended.ask()).toBeUndefined()
  ended.fails(down)
  await expect(ended.ask()).rejects.toThrow('ECONNREFUSED')
  const other = given({ isPlatform: false })
  await other.ask()
  other.fails(down)
  await expect(other.ask()).rejects.toThrow('ECONNREFUSED')
})

test('a sign-out is not undone by an outage: the sessions of its administrator are forgotten, no others', async () => {
  const { ask, fails, forget } = given({ isPlatform: true })
  await ask()
  fails(down)
  forget('berta')
  expect(await ask()).toMatchObject({ sessionId: 1 })
  forget('anna')
  await expect(ask()).rejects.toThrow('ECONNREFUSED')
})

test('what was read before an administrator was forgotten is not kept after it', async () => {
  const { ask, forget, fails } = given({ isPlatform: true })
  const reading = ask()
  forget('anna')
  await reading
  fails(down)
  await expect(ask()).rejects.toThrow('ECONNREFUSED')
})

test('the session that a sign-in of somebody else ends is forgotten by its token', async () => {
  const { ask, forget, fails } = given({ isPlatform: true })
  await ask()
  forget('somebody else', 'token')
  fails(down)
  await expect(ask()).rejects.toThrow('ECONNREFUSED')
})
