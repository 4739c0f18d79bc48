import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto'

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest()

/** Where a browser believes to be, and how often its authenticator says that it has signed. */
type Moment = { origin?: string; party?: string; counter?: number }

/** An authenticator with one passkey, and the browser that speaks for it. */
export function newAuthenticator() {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const id = randomBytes(32)
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' })
  // RFC 9053: an EC2 key (1: 2) for ES256 (3: -7) on P-256 (-1: 1).
  const coseKey = Buffer.concat([
    Buffer.from('a5010203262001215820', 'hex'),
    Buffer.from(x, 'base64url'),
    Buffer.from('225820', 'hex'),
    Buffer.from(y, 'base64url'),
  ])
  const data = (flags: number, { party = 'admin.test', counter = 0 }: Moment, more = Buffer.alloc(0)) => {
    const head = Buffer.alloc(5)
    head.writeUInt8(flags, 0)
    head.writeUInt32BE(counter, 1)
    return Buffer.concat([sha256(party), head, more])
  }
  const answer = (response: object) => {
    const name = id.toString('base64url')
    return JSON.stringify({ id: name, rawId: name, type: 'public-key', clientExtensionResults: {}, response })
  }
  const clientData = (type: string, options: string, { origin = 'http://admin.test' }: Moment) =>
    Buffer.from(
      JSON.stringify({ type, challenge: JSON.parse(options).challenge, origin, crossOrigin: false }),
    )

  return {
    /** Answers the options of a page with a new passkey. */
    create(options: string, moment: Moment = {}): string {
      const length = Buffer.alloc(2)
      length.writeUInt16BE(id.length)
      const made = data(0x41, moment, Buffer.concat([Buffer.alloc(16), length, id, coseKey]))
      const attestation = Buffer.concat([
        Buffer.from('a363666d74646e6f6e656761747453746d74a068617574684461746158', 'hex'),
        Buffer.from([made.length]),
        made,
      ])
      return answer({
        clientDataJSON: clientData('webauthn.create', options, moment).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['usb'],
      })
    },
    /** Answers the options of a page with a signature. */
    sign(options: string, moment: Moment = {}): string {
      const client = clientData('webauthn.get', options, moment)
      const signed = data(0x01, moment)
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: signed.toString('base64url'),
        signature: sign('sha256', Buffer.concat([signed, sha256(client)]), privateKey).toString('base64url'),
      })
    },
  }
}

/** What a page of the area gives the browser for a passkey; empty without such a form. */
export const optionsOf = (page: string): string =>
  (/data-options="([^"]+)"/.exec(page)?.[1] ?? '').replaceAll('&quot;', '"')
