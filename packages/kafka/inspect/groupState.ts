import type { Broker } from '../client/cluster.ts'
import { inside, type KafkaConnection } from '../client/connection.ts'
import { Decoder, Encoder, readCompactBytes, skipTaggedFields } from '../client/flexible.ts'
import { groupForbidden, type Right, rightsIn } from './rights.ts'

/**
 * A consumer group as its coordinator sees it. `state` is Kafka's own word (`Stable`, `Empty`, `Dead`: never used,
 * `PreparingRebalance`, `CompletingRebalance`), undefined if this client may not describe the group. `members` are
 * client ids.
 */
type GroupState = { state: string | undefined; members: string[]; rights: ReadonlySet<Right> }

const groupCoordinator = 0
const describeGroupsKey = 15
const describeGroupsVersion = 5

/** What is known of a consumer group, and what this client may do with it. Throws kafkajs's error. */
export async function groupState(connection: KafkaConnection, groupId: string): Promise<GroupState> {
  return inside(connection).cluster.use([], async cluster => {
    const broker = await cluster.findControllerBroker()
    try {
      // kafkajs's cluster hides why a coordinator was not found.
      const { coordinator } = await broker.findGroupCoordinator({
        groupId,
        coordinatorType: groupCoordinator,
      })
      return await askGroup(await cluster.findBroker(coordinator), groupId)
    } catch (error) {
      if ((error as { type?: string }).type !== 'GROUP_AUTHORIZATION_FAILED') throw error
      return forbidden
    }
  })
}

const forbidden: GroupState = { state: undefined, members: [], rights: new Set() }

/**
 * Version 5 answers with rights (kafkajs 2.2.4 stops at 2). The message: DescribeGroupsRequest.json and
 * DescribeGroupsResponse.json in apache/kafka, clients/src/main/resources/common/message.
 */
const askGroup = (broker: Broker, groupId: string): Promise<GroupState> =>
  broker.connectionPool.send<GroupState>({
    request: {
      apiKey: describeGroupsKey,
      apiVersion: describeGroupsVersion,
      apiName: 'DescribeGroups',
      encode: async () =>
        new Encoder()
          .writeUVarInt(0) // the header's tagged fields
          .writeUVarIntArray([new Encoder().writeUVarIntString(groupId)])
          .writeBoolean(true) // include_authorized_operations
          .writeUVarInt(0),
    },
    response: { decode: async (data: Buffer) => data, parse: async (data: Buffer) => decodeGroups(data) },
  })

/**
 * The first group of an answer. Throws for every error but a missing right. Answers with an error name no rights, which
 * does not mean that there are none: a new cluster, for example, has no coordinator until it has a topic for offsets.
 */
export function decodeGroups(data: Buffer): GroupState {
  const from = new Decoder(data)
  skipTaggedFields(from)
  from.readInt32() // throttle_time_ms
  return from.readUVarIntArray(() => decodeGroup(from))?.[0] ?? forbidden
}

function decodeGroup(from: Decoder): GroupState {
  const errorCode = from.readInt16()
  from.readUVarIntString() // group_id
  const state = from.readUVarIntString() ?? undefined
  from.readUVarIntString() // protocol_type
  from.readUVarIntString() // protocol_data
  const members = from.readUVarIntArray(() => decodeMember(from)) ?? []
  const rights = rightsIn(from.readInt32())
  if (errorCode === groupForbidden) return forbidden
  if (errorCode !== 0)
    throw new Error(`Kafka cannot describe the group at this moment (error code ${errorCode})`)
  return { state, members, rights }
}

function decodeMember(from: Decoder): string {
  from.readUVarIntString() // member_id
  from.readUVarIntString() // group_instance_id
  const clientId = from.readUVarIntString() ?? ''
  from.readUVarIntString() // client_host
  readCompactBytes(from) // member_metadata
  readCompactBytes(from) // member_assignment
  skipTaggedFields(from)
  return clientId
}
