import { rmSync, writeFileSync } from 'node:fs'
import type { LocalServers } from '../servers/index.ts'

type Addresses = Pick<LocalServers, 'kafkaBrokers' | 'databaseUrl' | 'redisUrl'>

/**
 * Writes the settings of the servers that were started here, which hold their passwords, for another shell. Those that
 * the caller named are the caller's: they are written nowhere.
 */
export function writeEnvFile(file: string, { kafkaBrokers, databaseUrl, redisUrl }: Addresses): string {
  const own = { KAFKA_BROKERS: kafkaBrokers, DATABASE_URL: databaseUrl, REDIS_URL: redisUrl }
  const lines = Object.entries(own).filter(([, value]) => value !== '')
  rmSync(file, { force: true })
  writeFileSync(file, lines.map(([name, value]) => `export ${name}='${value}'\n`).join(''), { mode: 0o600 })
  return file
}
