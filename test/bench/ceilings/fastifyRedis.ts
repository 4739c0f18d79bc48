import { fastify } from 'fastify'
import { Redis } from 'ioredis'
import { report, setting } from './report.ts'

/** The least that an answer of Redis costs: bare fastify, one GET of the body; the client pipelines as Tally's. */
const redis = new Redis(setting('REDIS_URL'), { enableAutoPipelining: true })
const prefix = setting('REDIS_KEYS')
const app = fastify()
app.get('/*', async (request, reply) => {
  reply.header('Content-Type', 'application/json; charset=utf-8')
  return redis.getBuffer(prefix + request.url)
})
report({ at: 'listening', address: await app.listen({ host: '127.0.0.1', port: 0 }) })
