import { createRequire } from 'node:module'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, test } from 'vitest'
import '../client/kafkajs.ts'

type Runner = { start(): Promise<void>; stop(): Promise<void> }
const Runner: new (of: object) => Runner = createRequire(import.meta.url)('kafkajs/src/consumer/runner.js')

const logger = { namespace: () => logger, debug() {}, info() {}, warn() {}, error() {} }
/** More than any end of a consumer needs. */
const mostCalls = 1_000

test('a consumer that stops while its brokers change ends', async () => {
  let nodeIds = ['1']
  let calls = 0
  const stopped = Promise.withResolvers<void>()
  const runner = new Runner({
    logger,
    concurrency: 1,
    instrumentationEmitter: { emit() {} },
    onCrash: stopped.reject,
    retry: { initialRetryTime: 1 },
    consumerGroup: {
      connect: nextTurn,
      joinAndSync: nextTurn,
      leave: nextTurn,
      heartbeat: nextTurn,
      /** Asked before every fetch; fails instead of letting an endless loop hang the test. */
      getNodeIds() {
        if (++calls > mostCalls) throw new Error('the fetch loop does not end')
        if (nodeIds.length === 2 && calls < mostCalls / 2) stop()
        return nodeIds
      },
      async fetch() {
        await nextTurn()
        nodeIds = ['1', '2']
        return []
      },
    },
  })
  let isStopping = false
  const stop = () => {
    if (isStopping) return
    isStopping = true
    runner.stop().then(stopped.resolve, stopped.reject)
  }
  await runner.start()
  await stopped.promise
  expect(calls).toBeLessThan(20)
})

test('a consumer that is stopped while it joins leaves its group as soon as it has joined', async () => {
  const joined = Promise.withResolvers<void>()
  const left = Promise.withResolvers<void>()
  const calls: string[] = []
  const runner = new Runner({
    logger,
    concurrency: 1,
    instrumentationEmitter: { emit() {} },
    onCrash: left.reject,
    consumerGroup: {
      connect: nextTurn,
      joinAndSync: () => joined.promise,
      getNodeIds() {
        calls.push('fetch')
        return []
      },
      heartbeat: nextTurn,
      async leave() {
        calls.push('leave')
      },
      cluster: { disconnect: async () => left.resolve() },
    },
  })
  const started = runner.start()
  await nextTurn()
  await runner.stop()
  joined.resolve()
  await started
  // Without the patch the fetch loop begins: its first step is to ask for the brokers.
  await Promise.race([left.promise, nextTurn()])
  expect(calls).toEqual(['leave'])
  await runner.stop()
})
