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
  const kafka = {
    KAFKA_NODE_ID: '1',
    KAFKA_PROCESS_ROLES: 'broker,controller',
    KAFKA_CONTROLLER_QUORUM_VOTERS: '1@localhost:9093',
    KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
    KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    KAFKA_LISTENERS: 'PLAINTEXT://:9092,CONTROLLER://:9093',
    KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://${host('kafka')}:9092`,
    KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
    KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
    KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
    KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
    KAFKA_HEAP_OPTS: '-Xms256m -Xmx512m',
  }
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
    kafkaBrokers: `${host('kafka')}:9092`,
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
