import { openRelay } from '@tally/testkit/servers/relay'

export type Sniffer = {
  /** The address of the database through the sniffer. */
  url: string
  /** How many statements with this text were sent to Postgres. */
  count: (text: string) => number
  /** Delays every chunk, in both directions. */
  slow: (ms: number) => void
  close: () => Promise<void>
}

/** Opens a port in front of Postgres that counts the statements that pass. */
export async function openSniffer(databaseUrl: string): Promise<Sniffer> {
  const { hostname, port } = new URL(databaseUrl)
  let sent = ''
  const relay = await openRelay(
    { host: hostname, port: Number(port || 5432) },
    {
      toServer(bytes) {
        sent += bytes.toString('latin1')
        return bytes
      },
    },
  )
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${relay.port}`
  return { url: url.href, count: text => sent.split(text).length - 1, slow: relay.slow, close: relay.close }
}
