import type { Message, PartitionerArgs } from 'kafkajs'

type ToGroup = Omit<PartitionerArgs, 'message'> & {
  messages: Message[]
  partitioner: (of: PartitionerArgs) => number
}

/** Groups a request's records by partition; kafkajs 2.2.4 copies a partition's list for each record that it adds. */
export function groupMessages({ messages, partitioner, ...of }: ToGroup): Record<number, Message[]> {
  const groups: Record<number, Message[]> = {}
  for (const message of messages) {
    const partition = partitioner({ ...of, message })
    const group = groups[partition]
    if (group === undefined) groups[partition] = [message]
    else group.push(message)
  }
  return groups
}
