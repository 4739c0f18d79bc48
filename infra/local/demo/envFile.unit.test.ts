import { execFileSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { writeEnvFile } from './envFile.ts'

test('the settings of own servers are in a file of its owner; those of the caller are in none', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-env-'))
  const file = join(folder, 'env')
  writeFileSync(file, "export REDIS_URL='redis://:old@127.0.0.1:1'\n", { mode: 0o644 })
  const databaseUrl = 'postgres://postgres:own@127.0.0.1:5432/tally'
  // A server that the caller named was not started: its address is empty.
  expect(writeEnvFile(file, { kafkaBrokers: '127.0.0.1:9092', databaseUrl, redisUrl: '' })).toBe(file)
  expect(readFileSync(file, 'utf8')).toBe(
    `export KAFKA_BROKERS='127.0.0.1:9092'\nexport DATABASE_URL='${databaseUrl}'\n`,
  )
  expect(statSync(file).mode & 0o777).toBe(0o600)
  rmSync(folder, { recursive: true })
})

test('a shell that reads the file has what the guides and the runbook ask for', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tally-env-'))
  const servers = { kafkaBrokers: '', databaseUrl: '', redisUrl: 'redis://:own@127.0.0.1:6379' }
  const file = writeEnvFile(join(folder, 'env'), servers, {
    TALLY_URL: 'http://127.0.0.1:8080',
    TALLY_KEY: 'tally_a',
    EVENT_ID: '7c1e0f4e-0a52-4b43-9c0c-0c2f6a6f1a11',
    PROJECTOR: 'http://127.0.0.1:9090',
  })
  const script = '. "$0"; echo $TALLY_URL $TALLY_KEY $EVENT_ID $PROJECTOR $REDIS'
  expect(execFileSync('sh', ['-c', script, file], { encoding: 'utf8' })).toBe(
    'http://127.0.0.1:8080 tally_a 7c1e0f4e-0a52-4b43-9c0c-0c2f6a6f1a11 http://127.0.0.1:9090 redis://default:own@127.0.0.1:6379\n',
  )
  rmSync(folder, { recursive: true })
})
