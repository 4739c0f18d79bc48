import { rmSync, writeFileSync } from 'node:fs'
import type { LocalServers } from '../servers/index.ts'

type Servers = Pick<LocalServers, 'kafkaBrokers' | 'databaseUrl' | 'redisUrl'>

/** What the guides ask for (docs/guides/first-answer.md), as far as there is a key and an event. */
export type ForGuides = { TALLY_URL: string; TALLY_KEY?: string; EVENT_ID?: string }

/** The operations ports, as the runbook names them. */
export type ForRunbook = { PROJECTOR: string; QUERY: string; ADMIN: string }

/**
 * Writes what another shell needs for `npx tally`, the guides and the runbook: the settings of the servers that were
 * started here, which hold their passwords, and the addresses and the key of the demo. Settings that the caller named
 * are the caller's: they are written nowhere.
 */
export function writeEnvFile(
  file: string,
  servers: Servers,
  more: Partial<ForGuides & ForRunbook> = {},
): string {
  const { kafkaBrokers, databaseUrl, redisUrl } = servers
  const values = {
    KAFKA_BROKERS: kafkaBrokers,
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    // redis-cli needs the user's name.
    REDIS: redisUrl.replace('//:', '//default:'),
    ...more,
  }
  const lines = Object.entries(values).filter(([, value]) => value !== '' && value !== undefined)
  rmSync(file, { force: true })
  writeFileSync(file, lines.map(([name, value]) => `export ${name}='${value}'\n`).join(''), { mode: 0o600 })
  return file
}
