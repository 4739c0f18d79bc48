import { parentPort, workerData } from 'node:worker_threads'
import { openRelay } from '@tally/testkit/servers/relay'
import { advertise } from './kafkaAddress.ts'
import type { LinkCommand, LinkOptions } from './link.ts'

// The thread of one link (link.ts).

const { target, host } = workerData as LinkOptions
const changes = host === undefined ? {} : advertise(host, target)
const relay = await openRelay({ host: '127.0.0.1', port: target }, changes)
parentPort?.postMessage(relay.port)
parentPort?.on('message', async (command: LinkCommand) => {
  await relay[command.do](command.ms ?? 0)
  parentPort?.postMessage('done')
})
