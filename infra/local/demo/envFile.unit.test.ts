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
