import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { kafkaServer } from '#infra/servers/kafka.ts'
import { freePort } from '#infra/servers/ports.ts'

/** A Kafka with ACLs; `tls` is the address of the same broker over TLS. */
export type GuardedKafka = { brokers: string; tls: string; stop: () => Promise<void> }

/** Starts a Kafka with an authorizer that allows what has no ACL, and a second listener with this certificate. */
export async function startGuardedKafka(certificate: string, key: string): Promise<GuardedKafka> {
  const folder = mkdtempSync(join(tmpdir(), 'tally-guarded-'))
  const keystore = join(folder, 'keystore.pem')
  writeFileSync(keystore, readFileSync(key, 'utf8') + readFileSync(certificate, 'utf8'))
  const tls = `127.0.0.1:${await freePort()}`
  const setup = {
    folder: join(folder, 'kafka'),
    logFile: join(folder, 'log'),
    port: await freePort(),
    durable: false,
    brief: true,
    log: () => {},
    onDeath: console.error,
  }
  const server = await kafkaServer(setup, settings => ({
    ...settings,
    'listener.security.protocol.map': `${settings['listener.security.protocol.map']},SSL:SSL`,
    listeners: `${settings.listeners},SSL://${tls}`,
    'advertised.listeners': `${settings['advertised.listeners']},SSL://${tls}`,
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'allow.everyone.if.no.acl.found': 'true',
    'ssl.keystore.type': 'PEM',
    'ssl.keystore.location': keystore,
  }))
  const stop = async () => {
    await server.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
  try {
    await server.start()
  } catch (error) {
    await stop()
    throw error
  }
  return { brokers: server.url, tls, stop }
}
