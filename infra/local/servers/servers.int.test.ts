import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { Kafka, logLevel } from 'kafkajs'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'
import { localFolder } from '../folder.ts'

const servers = inject('servers')

test('Kafka lists its topics', async () => {
  const kafka = new Kafka({ brokers: servers.kafkaBrokers.split(','), logLevel: logLevel.NOTHING })
  const admin = kafka.admin()
  await admin.connect()
  expect(await admin.listTopics()).toEqual(expect.any(Array))
  await admin.disconnect()
})

test('Postgres gives text back as it was', async () => {
  const client = new Client({ connectionString: servers.databaseUrl })
  await client.connect()
  const { rows } = await client.query('select $1::text as name', ['Würstel à la Šárka 🌭'])
  expect(rows).toEqual([{ name: 'Würstel à la Šárka 🌭' }])
  await client.end()
})

test('Redis answers a PING', async () => {
  const redis = new Redis(servers.redisUrl)
  expect(await redis.ping()).toBe('PONG')
  await redis.quit()
})

/** The files that other users of the machine can reach and read; a pid is not a secret. */
const readableByOthers = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap(entry => {
    const path = join(folder, entry.name)
    const mode = statSync(path, { throwIfNoEntry: false })?.mode ?? 0
    if (entry.isDirectory()) return (mode & 0o011) === 0 ? [] : readableByOthers(path)
    return (mode & 0o044) === 0 || entry.name === 'pid' ? [] : [path]
  })

test('no other user of the machine can read the data of a server, or its log', () => {
  expect(readableByOthers(localFolder('test'))).toEqual([])
})
