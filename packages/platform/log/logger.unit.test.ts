import { spawnSync } from 'node:child_process'
import { closeSync, openSync } from 'node:fs'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from 'vitest'
import { logOutput, oncePerMinute } from './logger.ts'

const program = `
import { createLogger } from '${new URL('logger.ts', import.meta.url)}'
const secret = { command: { name: 'auth', args: ['the password'] }, client: { secretKey: 'the cancel key' } }
const failed = () => Object.assign(new Error('broke'), secret)
const logger = createLogger('test', 'info')
logger.info({ err: failed() }, 'one')
logger.info({ err: new AggregateError([failed()], 'all broke') }, 'several')
logger.info({ name: '\\x1b[2J\\x9b\\u202e' }, 'odd')
`

test('a log line escapes what a terminal would obey; an error in it has neither the arguments of its command nor its connection', () => {
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  })
  expect(stderr).toMatch(/"broke".*\n.*"all broke"/)
  expect(stderr).toContain('"name":"\\u001b[2J\\u009b\\u202e"')
  expect(stderr).not.toMatch(/the password|the cancel key/)
})

test('a log that cannot be written, because the disk is full, does not end the process', () => {
  const full = openSync('/dev/full', 'w')
  const args = ['--input-type=module', '--eval', `${program}; logger.info('more'); console.log('lives')`]
  const { stdout } = spawnSync(process.execPath, args, { stdio: ['ignore', 'pipe', full] })
  closeSync(full)
  expect(String(stdout)).toBe('lives\n')
})

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

test('the first occurrence is logged at once, the others once a minute with their number', () => {
  const lines: unknown[] = []
  const limited = oncePerMinute<number>((subject, count, of) => lines.push([subject, count, of]))
  for (let second = 0; second < 90; second++) {
    limited.note('schema', 2, second)
    vi.advanceTimersByTime(1_000)
  }
  limited.note('conflict', 1, 90)
  vi.advanceTimersByTime(60_000)
  expect(lines).toEqual([
    ['schema', 2, 0],
    ['schema', 118, 59],
    ['conflict', 1, 90],
    ['schema', 60, 89],
  ])
  vi.advanceTimersByTime(120_000)
  limited.note('schema', 1, 100)
  expect(lines.slice(4)).toEqual([['schema', 1, 100]])
})

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
