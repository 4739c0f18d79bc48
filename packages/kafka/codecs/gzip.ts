import { promisify } from 'node:util'
import { createGunzip, gunzip } from 'node:zlib'
import { type Codec, freedPieces, pieceOptions } from './codec.ts'

const gunzipAll = promisify(gunzip) as (bytes: Buffer, options: object) => Promise<Buffer>

/** Gzip, by Node's own zlib, which reads several members one after the other. */
export const gzip: Codec = {
  async unpackAtMost(bytes, limit) {
    try {
      return await gunzipAll(bytes, { maxOutputLength: limit })
    } catch (error) {
      if ((error as { code?: string }).code === 'ERR_BUFFER_TOO_LARGE') return undefined
      throw error
    }
  },
  unpack: bytes => freedPieces(createGunzip(pieceOptions).end(bytes)),
}
