import { Redis } from 'ioredis'
import { Kafka, logLevel } from 'kafkajs'
import { Client } from 'pg'
import { expect, inject, test } from 'vitest'

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
