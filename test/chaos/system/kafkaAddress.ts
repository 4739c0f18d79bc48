import type { Changes } from '@tally/testkit/servers/relay'

/**
 * A Kafka broker tells its clients its own address. For a relay in front of it: replaces that address in the broker's
 * answers by `host` and the relay's port, so that clients connect through the relay. `host` has as many letters as
 * 127.0.0.1.
 */
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
