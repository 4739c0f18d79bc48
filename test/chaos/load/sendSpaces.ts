import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { openProducer } from '@tally/kafka'
import { connectTo } from '@tally/testkit/servers/kafka'

/** A record whose value is this many spaces. */
type Spaces = {
  brokers: string
  topic: string
  key: string
  headers: Record<string, string>
  bytes: number
}

/** Sends a record of spaces from another process: compressing takes seconds, in which our links would pass nothing. */
export async function sendSpaces(spaces: Spaces): Promise<void> {
  await promisify(execFile)(process.execPath, [fileURLToPath(import.meta.url), JSON.stringify(spaces)])
}

async function send({ brokers, topic, key, headers, bytes }: Spaces): Promise<void> {
  const kafka = connectTo(brokers)
  const producer = await openProducer(kafka)
  await producer.send([{ topic, key, headers, value: Buffer.alloc(bytes, ' ') }])
  await producer.close()
  await kafka.close()
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await send(JSON.parse(process.argv[2] ?? ''))
