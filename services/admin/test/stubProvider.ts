import { generateKeyPairSync, randomUUID, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** What a provider says of its one user; of the request's parameters, because some claims must be asked for. */
export type Behaviour = {
  idToken: (asked: URLSearchParams) => object
  /** Absent: the provider has no userinfo endpoint. */
  userinfo?: object
  /** What its token endpoint answers instead, as a proxy before it does. */
  tokenStatus?: number
}

/** An OpenID provider that signs in its one user without a question, and says of them what `behave` got. */
export async function startStubProvider() {
  const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' }
  const asked = new Map<string, URLSearchParams>()
  let behaviour: Behaviour = { idToken: () => ({}) }
  const server = createServer(async (request, reply) => {
    const url = new URL(request.url ?? '', issuer)
    const send = (body: object) =>
      reply.setHeader('Content-Type', 'application/json').end(JSON.stringify(body))
    if (url.pathname === '/.well-known/openid-configuration') return send(discovery())
    if (url.pathname === '/jwks') return send({ keys: [jwk] })
    if (url.pathname === '/userinfo') return send({ sub: 'anna', ...behaviour.userinfo })
    if (url.pathname === '/authorize') {
      const code = randomUUID()
      asked.set(code, url.searchParams)
      const { redirect_uri = '', state = '' } = Object.fromEntries(url.searchParams)
      return reply.writeHead(303, { Location: `${redirect_uri}?code=${code}&state=${state}` }).end()
    }
    if (behaviour.tokenStatus !== undefined)
      return reply.writeHead(behaviour.tokenStatus).end('<h1>Bad gateway</h1>')
    let form = ''
    for await (const chunk of request) form += chunk
    const parameters = asked.get(new URLSearchParams(form).get('code') ?? '') ?? new URLSearchParams()
    return send({ access_token: 'a', token_type: 'Bearer', id_token: tokenFor(parameters) })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const discovery = () => ({
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/jwks`,
    ...(behaviour.userinfo && { userinfo_endpoint: `${issuer}/userinfo` }),
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256'],
  })
  const tokenFor = (parameters: URLSearchParams): string => {
    const now = Math.floor(Date.now() / 1_000)
    const times = { iat: now, exp: now + 300, nonce: parameters.get('nonce') }
    const claims = { iss: issuer, aud: 'tally', sub: 'anna', ...times, ...behaviour.idToken(parameters) }
    const text = [{ alg: 'RS256', kid: 'one' }, claims]
      .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
      .join('.')
    return `${text}.${sign('sha256', Buffer.from(text), privateKey).toString('base64url')}`
  }

  return {
    issuer,
    behave(next: Behaviour) {
      behaviour = next
    },
    close() {
      server.closeAllConnections()
      server.close()
    },
  }
}
