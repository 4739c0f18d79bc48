import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'

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
