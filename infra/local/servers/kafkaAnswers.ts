import { once } from 'node:events'
import { connect } from 'node:net'

const timeoutMs = 3000

/**
 * Whether one of the brokers knows at least one broker that is in service: a node that has just started answers before
 * its controller has let it in, and a topic made in that moment would fail. Throws when it cannot be asked.
 *
 * One Metadata request (version 1, no topics) written by hand: this folder stays free of the Kafka client, whose
 * retries and logs are made for services and not for a server that is expected to be absent yet.
 */
export async function kafkaAnswers(brokers: string): Promise<boolean> {
  const [host = '', port = ''] = (brokers.split(',')[0] ?? '').split(':')
  const socket = connect({ host, port: Number(port), timeout: timeoutMs })
  socket.once('timeout', () => socket.destroy(new Error(`${brokers} does not answer within ${timeoutMs} ms`)))
  try {
    await once(socket, 'connect')
    socket.write(metadataRequest())
    let answer = Buffer.alloc(0)
    for await (const part of socket) {
      answer = Buffer.concat([answer, part as Buffer])
      // Length, correlation id, number of brokers: four bytes each.
      if (answer.length >= 12) return answer.readInt32BE(8) > 0
    }
    return false
  } finally {
    socket.destroy()
  }
}

function metadataRequest(): Buffer {
  const clientId = Buffer.from('tally')
  const head = Buffer.alloc(10)
  head.writeInt16BE(3, 0) // api key: Metadata
  head.writeInt16BE(1, 2) // version
  head.writeInt32BE(1, 4) // correlation id
  head.writeInt16BE(clientId.length, 8)
  const noTopics = Buffer.alloc(4)
  const body = Buffer.concat([head, clientId, noTopics])
  const length = Buffer.alloc(4)
  length.writeInt32BE(body.length)
  return Buffer.concat([length, body])
}
