import { groupState } from '@tally/kafka'
import { type DoctorFinding, fail, ok, skip, warn } from './check.ts'
import type { KafkaDeps } from './kafka.ts'

/** Whether projectors are in their consumer group. */
export async function checkGroup({ kafka, groupId }: KafkaDeps): Promise<DoctorFinding> {
  const { state, members } = await groupState(kafka, groupId)
  if (state === undefined) return skip('not checked: see kafka rights')
  const projectors = `${members.length} ${members.length === 1 ? 'projector' : 'projectors'}`
  if (members.length === 0)
    return fail(
      `no projector is in ${groupId} (${state})`,
      'start tally projector; if one runs, compare its KAFKA_GROUP_ID, and see its /readyz',
    )
  if (state !== 'Stable')
    return warn(
      `${groupId} has ${projectors} and is rebalancing (${state})`,
      'run tally doctor again in 10 s; if this stays, look for projectors that restart again and again',
    )
  return ok(`${projectors} in ${groupId}`)
}
