import { lookup } from 'node:dns/promises'
import { readFile } from 'node:fs/promises'
import { TransientError } from '@tally/platform'
import { expect, test } from 'vitest'
import { FatalError, isFatal, isTransient, isUnreachable, partOf, reasonOf } from './errors.ts'

const withCode = (code: string, message = 'x') => Object.assign(new Error(message), { code })
const named = (name: string, fields: object = {}) => Object.assign(new Error('x'), { name, ...fields })

test.each([
  ['a name that temporarily does not resolve', withCode('EAI_AGAIN')],
  ['an unknown name', withCode('ENOTFOUND')],
  ['a refused connection', withCode('ECONNREFUSED')],
  ['a connection that broke', withCode('ECONNRESET')],
  ['a certificate that has expired', withCode('CERT_HAS_EXPIRED')],
  ['no address of localhost answers', new AggregateError([withCode('ECONNREFUSED')], '')],
  ['a cause three levels down', new Error('a', { cause: new Error('b', { cause: withCode('ETIMEDOUT') }) })],
  ['a full pool', new Error('timeout exceeded when trying to connect')],
  ['a server that disconnects', new Error('Connection terminated unexpectedly')],
  ['a server that hangs', new Error('Query read timeout')],
])('%s is transient, and the address may be wrong', (_, error) => {
  expect([isTransient(error), isUnreachable(error), isFatal(error)]).toEqual([true, true, false])
})

test.each([
  ...['25006', '25P02', '25P03', '25P04', '26000', '42P05', '28000', '28P01', '3D000', '40001', '40P01'],
  ...['53100', '53300', '55P03', '57014', '57P01', '57P03', '58030', '08006', 'XX000'],
])('SQLSTATE %s is transient', code => {
  expect([isTransient(withCode(code)), isFatal(withCode(code)), partOf(withCode(code))]).toEqual([
    true,
    false,
    'postgres',
  ])
})

test('a plan that a migration made stale is transient, another missing feature is a bug', () => {
  expect(isTransient(withCode('0A000', 'cached plan must not change result type'))).toBe(true)
  expect(isTransient(withCode('0A000', 'cannot do that'))).toBe(false)
})

test('an error that says so is transient', () => expect(isTransient(new TransientError())).toBe(true))

test.each(['42P01', '42703', '42601', '42501', '22003', '23505'])(
  'SQLSTATE %s is a bug of this program or its schema',
  code => {
    expect(isTransient(withCode(code))).toBe(false)
  },
)

test('a bug is neither transient nor fatal', () => {
  for (const error of [new TypeError('x is undefined'), withCode('ERR_INVALID_ARG_TYPE'), 'text', undefined])
    expect([isTransient(error), isFatal(error)]).toEqual([false, false])
})

test('what is fatal is not transient, whatever caused it and whatever wraps it', () => {
  const fatal = new FatalError('run `tally migrate`', { cause: withCode('ECONNREFUSED') })
  for (const error of [fatal, new Error('x', { cause: fatal }), named('KafkaJSSASLAuthenticationError')])
    expect([isTransient(error), isFatal(error)]).toEqual([false, true])
})

test('an error of Kafka is transient unless the broker refuses a right or a version', () => {
  const retries = (cause: Error) =>
    Object.assign(new Error('x', { cause }), { name: 'KafkaJSNumberOfRetriesExceeded' })
  const moved = named('KafkaJSProtocolError', { type: 'NOT_LEADER_FOR_PARTITION' })
  const refused = named('KafkaJSProtocolError', { type: 'TOPIC_AUTHORIZATION_FAILED' })
  const send = Object.assign(new Error('could not send', { cause: moved }), { name: 'KafkaSendError' })
  expect([isTransient(retries(moved)), isTransient(send)]).toEqual([true, true])
  expect([isTransient(retries(refused)), isFatal(retries(refused))]).toEqual([false, true])
  expect([partOf(send), partOf(retries(withCode('ECONNREFUSED')))]).toEqual(['kafka', 'kafka'])
})

test('an error of Redis is transient if Redis is down, loading, full or failing over, not if the command is wrong', () => {
  const reply = (message: string) => Object.assign(new Error(message), { name: 'ReplyError' })
  const transient = [
    new Error('Command timed out'),
    new Error('Connection is closed.'),
    new Error("Stream isn't writeable and enableOfflineQueue options is false"),
    named('MaxRetriesPerRequestError'),
    reply('LOADING Redis is loading the dataset in memory'),
    reply("READONLY You can't write against a read only replica."),
    reply("OOM command not allowed when used memory > 'maxmemory'."),
    reply('WRONGPASS invalid username-password pair'),
  ]
  for (const error of transient) expect([isTransient(error), partOf(error)]).toEqual([true, 'redis'])
  expect(isTransient(reply('WRONGTYPE Operation against a key holding the wrong kind of value'))).toBe(false)
})

test('real errors of Node: a name that does not resolve is transient, a file that cannot be read is not', async () => {
  expect(isTransient(await lookup('nowhere.invalid').catch(error => error))).toBe(true)
  for (const file of ['/nowhere/ca.pem', '/'])
    expect(isTransient(await readFile(file).catch(error => error))).toBe(false)
})

test('the reason is one line, also for an error without a message of its own', () => {
  expect(reasonOf(new AggregateError([withCode('ECONNREFUSED', 'connect ECONNREFUSED ::1:5')], ''))).toBe(
    'connect ECONNREFUSED ::1:5',
  )
  expect(reasonOf(new Error('first\n  second'))).toBe('first second')
  expect(reasonOf('text')).toBe('text')
  const whole = named('KafkaJSAggregateError', {
    message: 'Topic creation errors',
    errors: [new Error('why')],
  })
  expect(reasonOf(whole)).toBe('why')
})
