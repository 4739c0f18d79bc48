import { createRequire } from 'node:module'
import { zstdCompressSync } from 'node:zlib'
import { encodeRecord } from '../patches/encodeRecord.ts'
import { groupMessages } from '../patches/groupMessages.ts'
import { keepLeaderless } from '../patches/metadata.ts'
import { patchReconnect } from '../patches/reconnect.ts'
import { patchBrokerPool, patchRequestQueue, patchSilence } from '../patches/requestQueue.ts'

const require = createRequire(import.meta.url)

/**
 * The only import of kafkajs. The library is no longer maintained, so faults of 2.2.4 are patched here at run time.
 * package.json names that exact version, and each patch has a test that fails without it. `patches/` says why for each.
 *
 * Modules whose whole export is replaced must be replaced before the rest of kafkajs requires them, so no other
 * module may import kafkajs first.
 */
function loadPatched(): typeof import('kafkajs') {
  replaceModule('protocol/recordBatch/record/v0/index.js', () => encodeRecord)
  replaceModule('producer/groupMessagesPerPartition.js', () => groupMessages)
  replaceModule('protocol/requests/metadata/v0/response.js', keepLeaderless)
  const kafkajs: typeof import('kafkajs') = require('kafkajs')
  patchReconnect(
    require('kafkajs/src/network/connection.js').prototype,
    kafkajs.KafkaJSConnectionError as never,
  )
  patchRequestQueue(require('kafkajs/src/network/requestQueue/index.js').prototype)
  patchSilence(require('kafkajs/src/network/requestQueue/index.js').prototype)
  patchBrokerPool(
    require('kafkajs/src/cluster/brokerPool.js').prototype,
    require('kafkajs/src/errors.js').KafkaJSBrokerNotFound,
    require('kafkajs/src/protocol/error.js').createErrorFromCode,
  )
  // For the producer: kafkajs names ZSTD but does not ship it. What is read is unpacked by codecs/.
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }: { buffer: Buffer }) => zstdCompressSync(buffer),
    decompress: async () => Promise.reject(new Error('codecs/ unpacks what is read')),
  })
  return kafkajs
}

function replaceModule<Original>(path: string, replacement: (original: Original) => unknown): void {
  const name = `kafkajs/src/${path}`
  require(name)
  const module = require.cache[require.resolve(name)]
  if (!module) throw new Error(`kafkajs has no module ${path}: packages/kafka is written for kafkajs 2.2.4`)
  module.exports = replacement(module.exports)
}

export const kafkajs = loadPatched()

/** How kafkajs connects by default. */
export const connectSocket: import('kafkajs').ISocketFactory =
  require('kafkajs/src/network/socketFactory.js')()
