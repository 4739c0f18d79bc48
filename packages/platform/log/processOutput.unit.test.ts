import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { logOutput } from './logger.ts'

test('what Node and libraries print becomes lines of the log, a text of several lines one of them', async () => {
  const { stdout, stderr } = process
  const before = { out: stdout.write, err: stderr.write, warning: process.listeners('warning') }
  onTestFinished(() => {
    Object.assign(stdout, { write: before.out })
    Object.assign(stderr, { write: before.err })
    process.removeAllListeners('warning')
    for (const listener of before.warning) process.on('warning', listener)
  })
  const lines: string[] = []
  process.execArgv.push('--disable-warning=ExperimentalWarning')
  onTestFinished(() => void process.execArgv.pop())
  logOutput(pino({ level: 'debug' }, { write: line => void lines.push(line) }))

  process.emitWarning('turned off', 'ExperimentalWarning')
  process.emitWarning('two\nlines', { type: 'DeprecationWarning', code: 'DEP9999' })
  stderr.write('[ioredis] Unhandled error event: Error: x\n    at y\n')
  await new Promise(done => void stdout.write(Buffer.from('bytes\n'), () => done(undefined)))

  expect(lines.map(line => JSON.parse(line))).toMatchObject([
    { level: 40, stream: 'stderr', msg: '[ioredis] Unhandled error event: Error: x\n    at y' },
    { level: 30, stream: 'stdout', msg: 'bytes' },
    { level: 40, warning: 'DeprecationWarning', code: 'DEP9999', msg: 'two\nlines' },
  ])
})
