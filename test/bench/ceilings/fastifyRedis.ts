import { fastify } from 'fastify'
import { Redis } from 'ioredis'
import { report, setting } from './report.ts'

/**
 * The least that an answer from Redis can cost: bare fastify, one GET of the whole body for each request; no key, no
 * limit, no choice. The client pipelines by itself, as Tally's does.
 */
const redis = new Redis(setting('REDIS_URL'), { enableAutoPipelining: true })
const key = setting('REDIS_KEY')
const app = fastify()
app.get('/*', async (_request, reply) => {
  reply.header('Content-Type', 'application/json; charset=utf-8')
  return redis.getBuffer(key)
})
report({ at: 'listening', address: await app.listen({ host: '127.0.0.1', port: 0 }) })
