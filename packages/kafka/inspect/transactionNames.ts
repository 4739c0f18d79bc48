import type { Broker, Cluster } from '../client/cluster.ts'
import { Decoder, Encoder, skipTaggedFields } from '../client/flexible.ts'

const listTransactionsKey = 66

/**
 * The transactional ids of producers, by producer id, as far as this client may know them: each broker lists those that
 * it coordinates (ListTransactions version 0, which kafkajs 2.2.4 lacks). The message: ListTransactionsRequest.json and
 * ListTransactionsResponse.json in apache/kafka, clients/src/main/resources/common/message.
 */
export async function namesOf(cluster: Cluster): Promise<Map<string, string>> {
  const lists = await Promise.all(
    Object.keys(cluster.brokerPool.brokers).map(async nodeId => {
      const broker = await cluster.findBroker({ nodeId })
      const request = { apiKey: listTransactionsKey, apiName: 'ListTransactions' }
      // No filter of states and none of producers.
      const answer = await askFlexible(broker, request, to =>
        to.writeUVarIntArray([]).writeUVarIntArray([]).writeUVarInt(0),
      )
      return answer === undefined ? [] : decodeTransactions(answer)
    }),
  )
  return new Map(lists.flat())
}

function decodeTransactions(from: Decoder): [producerId: string, transactionalId: string][] {
  from.readInt32() // throttle_time_ms
  from.readInt16() // error_code
  from.readUVarIntArray(() => from.readUVarIntString()) // unknown_state_filters
  const all = from.readUVarIntArray((): [string, string] => {
    const transactionalId = from.readUVarIntString() ?? ''
    const producerId = String(from.readInt64())
    from.readUVarIntString() // transaction_state
    skipTaggedFields(from)
    return [producerId, transactionalId]
  })
  return all ?? []
}

/** Sends version 0 of a flexible request; returns the answer behind its header, or undefined if the broker has none. */
export async function askFlexible(
  broker: Broker,
  { apiKey, apiName }: { apiKey: number; apiName: string },
  body: (to: Encoder) => Encoder,
): Promise<Decoder | undefined> {
  if (broker.versions?.[apiKey] === undefined) return undefined
  return broker.connectionPool.send<Decoder>({
    request: {
      apiKey,
      apiVersion: 0,
      apiName,
      // The header's tagged fields come first: kafkajs writes and reads a header without them.
      encode: async () => body(new Encoder().writeUVarInt(0)),
    },
    response: {
      decode: async (data: Buffer) => data,
      parse: async (data: Buffer) => {
        const from = new Decoder(data)
        skipTaggedFields(from)
        return from
      },
    },
  })
}
