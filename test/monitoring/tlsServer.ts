import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { makeCertificate } from '../faults/support/certificate.ts'

/** Starts what stands for the proxy in front of the API, with a certificate of two days that signs itself. */
export async function startTlsServer(folder: string, answer: () => string) {
  const { certificate, key } = makeCertificate(folder)
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (_, response) =>
    response.end(answer()),
  )
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    host: `127.0.0.1:${(server.address() as AddressInfo).port}`,
    certificate,
    stop: () => server.close().closeAllConnections(),
  }
}
