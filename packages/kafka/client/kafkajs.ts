import { createRequire } from 'node:module'
import { zstdCompressSync } from 'node:zlib'
import { FetchedBatch } from '../batches/fetchedBatch.ts'
import { encodeRecord } from '../patches/encodeRecord.ts'
import { addFetchById } from '../patches/fetchById.ts'
import { keepBytes } from '../patches/fetchResponse.ts'
import { groupMessages } from '../patches/groupMessages.ts'
import { patchJoined } from '../patches/joined.ts'
import { patchLostBroker } from '../patches/lostBroker.ts'
import { patchOffsetOutOfRange } from '../patches/offsetOutOfRange.ts'
import { patchReconnect } from '../patches/reconnect.ts'
import { patchRequestQueue } from '../patches/requestQueue.ts'
import { patchBrokerPool, patchSilence } from '../patches/silence.ts'
import { patchStoppedRunner } from '../patches/stoppedRunner.ts'

const require = createRequire(import.meta.url)

/**
 * The only import of kafkajs. The library is no longer maintained, so faults of 2.2.4 are patched here at run time.
 * package.json names that exact version, and each patch has a test that fails without it. `patches/` says why for each.
 *
 * Modules whose whole export is replaced must be replaced before the rest of kafkajs requires them, so no other
 * module may import kafkajs first.
 */
function loadPatched(): typeof import('kafkajs') {
  replaceModule('protocol/requests/fetch/v4/decodeMessages.js', () => keepBytes)
  replaceModule('consumer/batch.js', () => FetchedBatch)
  replaceModule('protocol/recordBatch/record/v0/index.js', () => encodeRecord)
  replaceModule('producer/groupMessagesPerPartition.js', () => groupMessages)
  const kafkajs: typeof import('kafkajs') = require('kafkajs')
  addFetchById(require('kafkajs/src/protocol/requests/fetch/index.js'), {
    parse: require('kafkajs/src/protocol/requests/fetch/v0/response.js').parse,
    createErrorFromCode: require('kafkajs/src/protocol/error.js').createErrorFromCode,
  })
  patchReconnect(
    require('kafkajs/src/network/connection.js').prototype,
    kafkajs.KafkaJSConnectionError as never,
  )
  patchRequestQueue(require('kafkajs/src/network/requestQueue/index.js').prototype)
  patchSilence(require('kafkajs/src/network/requestQueue/index.js').prototype)
  patchBrokerPool(
    require('kafkajs/src/cluster/brokerPool.js').prototype,
    require('kafkajs/src/errors.js').KafkaJSBrokerNotFound,
  )
  patchStoppedRunner(require('kafkajs/src/consumer/runner.js').prototype)
  patchJoined(require('kafkajs/src/consumer/consumerGroup.js').prototype)
  patchLostBroker(require('kafkajs/src/consumer/consumerGroup.js').prototype)
  patchOffsetOutOfRange(
    require('kafkajs/src/consumer/consumerGroup.js').prototype,
    kafkajs.KafkaJSNonRetriableError as never,
  )
  // For the producer: kafkajs names ZSTD but does not ship it. What is read is unpacked by codecs/.
  kafkajs.CompressionCodecs[kafkajs.CompressionTypes.ZSTD] = () => ({
    compress: async ({ buffer }: { buffer: Buffer }) => zstdCompressSync(buffer),
    decompress: async () => Promise.reject(new Error('batches/ unpacks what is read')),
  })
  return kafkajs
}

function replaceModule(path: string, replacement: () => unknown): void {
  const name = `kafkajs/src/${path}`
  require(name)
  const module = require.cache[require.resolve(name)]
  if (!module) throw new Error(`kafkajs has no module ${path}: packages/kafka is written for kafkajs 2.2.4`)
  module.exports = replacement()
}

export const kafkajs = loadPatched()
