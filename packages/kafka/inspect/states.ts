import { type Broker, inside, type KafkaConnection } from '../client/connection.ts'
import { type Decoder, Encoder, readCompactBytes, skipTaggedFields } from '../client/flexible.ts'
import { askFlexible } from '../client/requests.ts'
import { askTopics } from '../topics/topicMetadata.ts'

/** A topic as this client sees it; `partitions` is 0 if it is missing, or may not be described. */
export type TopicState = { partitions: number; rights: ReadonlySet<Right> }

/** Each of these topics, and what this client may do with it. Throws kafkajs's error if Kafka does not answer. */
export async function topicStates(
  connection: KafkaConnection,
  topics: string[],
): Promise<Map<string, TopicState>> {
  const answered = await inside(connection).cluster.use([], async cluster =>
    askTopics(await cluster.findControllerBroker(), topics, { withRights: true }),
  )
  return new Map(
    answered.map(({ topic, errorCode, partitions, authorizedOperations }) => [
      topic,
      { partitions: partitions.length, rights: rightsOf(errorCode, authorizedOperations) },
    ]),
  )
}

/** A missing topic has no rights of its own to answer with, so it counts as allowed. */
function rightsOf(errorCode: number, authorizedOperations: number): Set<Right> {
  if (errorCode === topicForbidden) return new Set()
  return rightsIn(errorCode === 0 ? authorizedOperations : -1)
}

/**
 * A consumer group as its coordinator sees it. `state` is Kafka's own word (`Stable`, `Empty`, `Dead`: never used,
 * `PreparingRebalance`, `CompletingRebalance`), undefined if this client may not describe the group. `members` are
 * client ids.
 */
type GroupState = { state: string | undefined; members: string[]; rights: ReadonlySet<Right> }

const groupCoordinator = 0
const describeGroups = { apiKey: 15, apiVersion: 5, apiName: 'DescribeGroups' }

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
  askFlexible(
    broker,
    describeGroups,
    to =>
      to
        .writeUVarIntArray([new Encoder().writeUVarIntString(groupId)])
        .writeBoolean(true) // include_authorized_operations
        .writeUVarInt(0),
    decodeGroups,
  )

/**
 * The first group of an answer. Throws for every error but a missing right. Answers with an error name no rights, which
 * does not mean that there are none: a new cluster, for example, has no coordinator until it has a topic for offsets.
 */
export function decodeGroups(from: Decoder): GroupState {
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

/** Kafka's codes of operations that an ACL allows (AclOperation.java in apache/kafka). */
const codes = { read: 3, write: 4, describe: 8, 'describe-configs': 10 } as const

/** An operation on a topic or a group. Without an authorizer, everyone may do all of them. */
export type Right = keyof typeof codes

/** The operations that a broker's answer allows: bit n stands for the operation with code n. */
const rightsIn = (authorizedOperations: number): Set<Right> =>
  new Set((Object.keys(codes) as Right[]).filter(right => (authorizedOperations >> codes[right]) % 2 !== 0))

/** Error codes with which a broker refuses to say anything (Errors.java in apache/kafka). */
const topicForbidden = 29
const groupForbidden = 30
