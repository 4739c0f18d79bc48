import { expect, test } from 'vitest'
import { faultOf } from './faults.ts'

const error = (message: string, fields: object = {}) => Object.assign(new Error(message), fields)

test.each([
  ['redis', error('ERR SELECT is not allowed in cluster mode'), /names a database/, /REDIS_PREFIX/],
  ['redis', error('ERR DB index is out of range'), /no database of that number/, /`databases`/],
  [
    'postgres',
    error("ENOENT: no such file or directory, open 'x'", { code: 'ENOENT' }),
    /a file/,
    /sslrootcert/,
  ],
  ['postgres', error('self-signed certificate'), /not trusted/, /sslrootcert/],
  ['redis', error('NOAUTH Authentication required.'), /wants a password/, /USER:PASSWORD@/],
  [
    'redis',
    error('WRONGPASS invalid username-password pair or user is disabled.'),
    /refuses user/,
    /default/,
  ],
  ['redis', error('LOADING Redis is loading the dataset in memory'), /loading/, /wait/],
  ['redis', error("READONLY You can't write against a read only replica."), /replica/, /master/],
  ['redis', error('ERR This instance has cluster support disabled'), /not a Redis Cluster/, /one Redis/],
  ['redis', error('ERR max number of clients reached'), /no connection left/, /maxclients/],
  [
    'redis',
    error('self-signed certificate', { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }),
    /not trusted/,
    /NODE_EXTRA_CA_CERTS/,
  ],
  [
    'kafka',
    error('Connection error: unable to verify the first certificate'),
    /not trusted/,
    /NODE_EXTRA_CA_CERTS/,
  ],
  ['redis', error('x', { code: 'ERR_TLS_CERT_ALTNAME_INVALID' }), /another name/, /in REDIS_URL/],
  ['kafka', error('x', { code: 'ENOTFOUND' }), /does not resolve/, /KAFKA_BROKERS/],
  ['kafka', error('an answer of 1213486164 bytes'), /answers HTTP/, /the port in KAFKA_BROKERS/],
  [
    'kafka',
    error('SASL PLAIN authentication failed', { name: 'KafkaJSSASLAuthenticationError' }),
    /refuses user/,
    /USERNAME/,
  ],
  [
    'kafka',
    error('SASL SCRAM-SHA-256 mechanism is not supported by the server'),
    /mechanism/,
    /KAFKA_SASL_MECHANISM/,
  ],
  [
    'postgres',
    error('password authentication failed for user "u"', { code: '28P01' }),
    /refuses the password/,
    /%40/,
  ],
  [
    'postgres',
    error('no pg_hba.conf entry for host "::1", user "u", database "d", no encryption', { code: '28000' }),
    /without TLS/,
    /verify-full/,
  ],
  [
    'postgres',
    error('no pg_hba.conf entry for host "::1", user "u", database "d", SSL encryption', { code: '28000' }),
    /does not admit/,
    /add a line/,
  ],
  [
    'postgres',
    error('role "u" is not permitted to log in', { code: '28000' }),
    /refuses the user/,
    /`login`/,
  ],
  [
    'postgres',
    error('database "d" does not exist', { code: '3D000' }),
    /database is missing/,
    /tally migrate/,
  ],
  ['postgres', error('the database system is starting up', { code: '57P03' }), /starting/, /wait/],
  ['postgres', error('The server does not support SSL connections'), /not speak TLS/, /sslmode/],
] as const)('%s, %s', (part, cause, found, mend) => {
  for (const one of [cause, new Error('wrapped', { cause })]) {
    const fault = faultOf(part, one)
    expect(fault?.found).toMatch(found)
    expect(fault?.mend).toMatch(mend)
  }
})

test('no answer at all is not explained', () => {
  expect(
    faultOf('redis', error('connect ECONNREFUSED 127.0.0.1:1', { code: 'ECONNREFUSED' })),
  ).toBeUndefined()
})
