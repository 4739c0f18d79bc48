import { groupState, type Right, recordTopics } from '@tally/kafka'
import { type DoctorFinding, fail, ok, warn } from './check.ts'
import type { KafkaDeps } from './kafka.ts'

/** What Tally does with each topic, and with the group of the projectors (docs/install.md, Rights in Kafka). */
function neededRights({ names }: KafkaDeps): [topic: string, rights: Right[]][] {
  const read = [...recordTopics(names).keys()].map((topic): [string, Right[]] => [
    topic,
    ['describe', 'read'],
  ])
  return [...read, [names.deadLetters, ['describe', 'read', 'write']]]
}

/** Whether Kafka's ACLs allow what Tally needs. A missing right to read the topics' settings is only a warning. */
export async function checkRights(deps: KafkaDeps): Promise<DoctorFinding> {
  const { kafka, topics, groupId } = deps
  const group = await groupState(kafka, groupId)
  const lacking = (rights: ReadonlySet<Right> | undefined, needed: Right[]): Right[] =>
    needed.filter(right => rights?.has(right) === false)
  const missing = [
    ...neededRights(deps).map(([topic, needed]) => ({
      on: `topic ${topic}`,
      missing: lacking(topics.get(topic)?.rights, needed),
    })),
    { on: `group ${groupId}`, missing: lacking(group.rights, ['describe', 'read']) },
  ].filter(({ missing }) => missing.length > 0)
  if (missing.length > 0)
    return fail(
      missing.map(({ on, missing }) => `${on}: no right to ${missing.join(', ')}`).join('; '),
      'allow it with kafka-acls.sh --add (docs/install.md, Rights in Kafka)',
    )
  if (!mayReadSettings(deps))
    return warn(
      'no right to read the settings of the topics, so that nothing warns of retention and record size',
      'allow describe-configs with kafka-acls.sh --add (docs/install.md, Rights in Kafka)',
    )
  return ok('Kafka allows all that Tally needs')
}

/** Whether the settings of all topics may be read. */
export const mayReadSettings = ({ topics }: KafkaDeps): boolean =>
  [...topics.values()].every(({ rights }) => rights.has('describe-configs'))
