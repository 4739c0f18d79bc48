import { timeout } from '@tally/platform'
import type { TopicPartition } from '../types.ts'
import type { Broker, Cluster, SharedCluster } from './connection.ts'
import { Decoder, Encoder, skipTaggedFields } from './flexible.ts'

/**
 * Time limit for one broker: an answer usually takes a few ms, and the caller (`asOf` of all partitions, a batch before
 * its commit, an assignment) waits for the slowest broker.
 */
const answerMs = 2_000
/** Time limit for a broker that let the last one pass: it is probably lost, and the other partitions wait for it. */
const silentAnswerMs = 100

/**
 * Asks the leader of each of these partitions. Leaves out partitions that do not exist, and those of a broker that does
 * not answer in time while another one does: within 2 s, or 0.1 s if it has not answered since the last call. Throws if
 * no broker answers.
 */
export async function askLeaders(
  shared: SharedCluster,
  partitions: TopicPartition[],
  ask: (broker: Broker, mine: TopicPartition[], nodeId: string) => Promise<void>,
): Promise<void> {
  if (partitions.length === 0) return
  const topics = [...new Set(partitions.map(({ topic }) => topic))]
  const failure = await shared.use(topics, async cluster => {
    const leaders = await leadersOf(cluster, partitions)
    const asked = await Promise.allSettled(
      [...leaders].map(([nodeId, mine]) =>
        inTime(nodeId, shared.silent, async () => ask(await cluster.findBroker({ nodeId }), mine, nodeId)),
      ),
    )
    const failed = asked.flatMap(one => (one.status === 'rejected' ? [one.reason] : []))
    if (failed.length === 0) return undefined
    const isNoneLeft = failed.length === asked.length
    // A fresh client would wait for the same silent broker.
    if (isNoneLeft && !failed.some(error => error instanceof BrokerSilentError)) throw failed[0]
    await cluster.refreshMetadata()
    return isNoneLeft ? failed[0] : undefined
  })
  if (failure !== undefined) throw failure
}

/** Waits for an answer, but not for that of a broker that hangs. A late answer ends the broker's silence too. */
async function inTime(nodeId: string, silent: Set<string>, ask: () => Promise<void>): Promise<void> {
  const limitMs = silent.has(nodeId) ? silentAnswerMs : answerMs
  try {
    await timeout(
      limitMs,
      ask().then(() => void silent.delete(nodeId)),
    )
  } catch (error) {
    if ((error as Error).name !== 'TimeoutError') throw error
    silent.add(nodeId)
    throw new BrokerSilentError(nodeId, limitMs)
  }
}

class BrokerSilentError extends Error {
  override readonly name = 'KafkaBrokerSilentTimeoutError'
  constructor(nodeId: string, limitMs: number) {
    super(`broker ${nodeId} has not answered for ${limitMs / 1_000} s`)
  }
}

async function leadersOf(
  cluster: Cluster,
  partitions: TopicPartition[],
): Promise<Map<string, TopicPartition[]>> {
  const found = groupByLeader(cluster, partitions)
  if ([...found.values()].flat().length === partitions.length) return found
  // Partitions may have been added since the metadata was read.
  await cluster.refreshMetadata()
  return groupByLeader(cluster, partitions)
}

function groupByLeader(cluster: Cluster, partitions: TopicPartition[]): Map<string, TopicPartition[]> {
  const leaders = new Map<string, TopicPartition[]>()
  for (const place of partitions) {
    for (const nodeId of Object.keys(cluster.findLeaderForPartitions(place.topic, [place.partition]))) {
      const mine = leaders.get(nodeId) ?? []
      mine.push(place)
      leaders.set(nodeId, mine)
    }
  }
  return leaders
}

/**
 * Sends a request that kafkajs 2.2.4 lacks, in the flexible encoding (KIP-482). `body` and `decode` begin behind the
 * header, whose tagged fields kafkajs neither writes nor reads.
 */
export function askFlexible<Answer>(
  broker: Broker,
  request: { apiKey: number; apiVersion: number; apiName: string },
  body: (to: Encoder) => Encoder,
  decode: (from: Decoder) => Answer,
): Promise<Answer> {
  return broker.connectionPool.send<Answer>({
    request: { ...request, encode: async () => body(new Encoder().writeUVarInt(0)) },
    response: {
      decode: async (data: Buffer) => {
        const from = new Decoder(data)
        skipTaggedFields(from)
        return decode(from)
      },
      parse: async (answer: Answer) => answer,
    },
  })
}
