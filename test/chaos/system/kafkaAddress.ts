import type { Changes } from '@tally/testkit/servers/relay'

/** For a relay in front of a broker: replaces its own address in answers by `host`, as long as it, and the port. */
export function advertise(host: string, brokerPort: number): Changes {
  const own = addressOf('127.0.0.1', brokerPort)
  return { toClient: (bytes, relayPort) => replaceAll(bytes, own, addressOf(host, relayPort)) }
}

/** Host and port as every version of Kafka's protocol writes them: the name's bytes, then four bytes of port. */
function addressOf(host: string, port: number): Buffer {
  const number = Buffer.alloc(4)
  number.writeInt32BE(port)
  return Buffer.concat([Buffer.from(host), number])
}

function replaceAll(bytes: Buffer, from: Buffer, to: Buffer): Buffer {
  for (let at = bytes.indexOf(from); at >= 0; at = bytes.indexOf(from, at + to.length)) to.copy(bytes, at)
  return bytes
}
