import { kafkaImage } from '#infra/servers/kafka.ts'
import { newPassword } from '#infra/servers/password.ts'
import { apply, kubectl, type Manifest } from './cluster.ts'

const images = {
  kafka: process.env.KAFKA_IMAGE || 'apache/kafka:4.3.1',
  postgres: process.env.POSTGRES_IMAGE || 'postgres:18',
  redis: process.env.REDIS_IMAGE || 'redis:8',
}

/** Addresses as Tally's settings take them. */
export type Servers = { kafkaBrokers: string; databaseUrl: string; redisUrl: string }

/** Starts a Kafka, a Postgres and a Redis without a volume in a namespace, and returns when they answer. */
export async function startServers(namespace: string): Promise<Servers> {
  const password = newPassword()
  const host = (name: string) => `${name}.${namespace}.svc.cluster.local`
  const kafkaBrokers = `${host('kafka')}:9092`
  const kafka = { ...kafkaImage(kafkaBrokers).env, KAFKA_HEAP_OPTS: '-Xms256m -Xmx512m' }
  const postgres = { POSTGRES_USER: 'tally', POSTGRES_DB: 'tally', POSTGRES_PASSWORD: password }
  await apply(
    [
      ...server('kafka', 9092, kafka),
      ...server('postgres', 5432, postgres),
      ...server('redis', 6379, {}, ['redis-server', '--requirepass', password]),
    ],
    '--namespace',
    namespace,
  )
  for (const name of Object.keys(images))
    await kubectl(['--namespace', namespace, 'rollout', 'status', `deployment/${name}`, '--timeout=300s'])
  return {
    kafkaBrokers,
    databaseUrl: `postgres://tally:${password}@${host('postgres')}:5432/tally`,
    redisUrl: `redis://:${password}@${host('redis')}:6379`,
  }
}

function server(
  name: keyof typeof images,
  port: number,
  env: Record<string, string>,
  args?: string[],
): Manifest[] {
  const labels = { app: name }
  const container = {
    name,
    image: images[name],
    imagePullPolicy: 'IfNotPresent',
    args,
    env: Object.entries(env).map(([name, value]) => ({ name, value })),
    ports: [{ containerPort: port }],
    readinessProbe: { tcpSocket: { port }, periodSeconds: 1 },
  }
  // Variables of a Service named "kafka" would become settings of Kafka.
  const pod = { metadata: { labels }, spec: { enableServiceLinks: false, containers: [container] } }
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name },
      spec: { replicas: 1, selector: { matchLabels: labels }, template: pod },
    },
    { apiVersion: 'v1', kind: 'Service', metadata: { name }, spec: { selector: labels, ports: [{ port }] } },
  ]
}
