import { expect, test } from 'vitest'
import { Decoder, Encoder } from '../client/flexible.ts'
import { decodeGroups } from './states.ts'

/** authorized_operations of an answer that has none. */
const none = -(2 ** 31)
const coordinatorNotAvailable = 15
const groupForbidden = 30

/** The body of a DescribeGroups answer (version 5) with one group. */
function answer(errorCode: number, state: string, authorizedOperations: number): Decoder {
  const group = new Encoder()
    .writeInt8(0)
    .writeInt8(errorCode)
    .writeUVarIntString('tally-projector')
    .writeUVarIntString(state)
    .writeUVarIntString('consumer')
    .writeUVarIntString('')
    .writeUVarIntArray([])
    .writeInt32(authorizedOperations)
    .writeUVarInt(0)
  return new Decoder(new Encoder().writeInt32(0).writeUVarIntArray([group]).writeUVarInt(0).buffer)
}

test('a group has the rights that the answer names', () => {
  const { state, rights } = decodeGroups(answer(0, 'Stable', (1 << 3) | (1 << 8)))
  expect([state, [...rights]]).toEqual(['Stable', ['read', 'describe']])
})

test('a group that may not be described has no rights', () => {
  const { state, rights } = decodeGroups(answer(groupForbidden, '', none))
  expect([state, [...rights]]).toEqual([undefined, []])
})

test('a coordinator that cannot answer yet is not a missing right', () => {
  expect(() => decodeGroups(answer(coordinatorNotAvailable, '', none))).toThrow(
    'Kafka cannot describe the group at this moment (error code 15)',
  )
})
