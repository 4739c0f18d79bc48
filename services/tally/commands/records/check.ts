import type { EventId, RecordType } from '@tally/contract'
import type { KafkaRecord } from '@tally/kafka'
import type { Counts } from '@tally/projection'
import type { Command } from 'commander'
import { UsageError } from '../../failure.ts'
import { openCommand, withKafka } from '../../open.ts'
import { counted, remark } from '../../output.ts'
import { oneOf, wholeNumber } from '../../values.ts'
import { createPrinter } from './print.ts'

type Raw = { fromKafka?: true; type?: string; event?: string; partitions?: string; json?: true }
type Asked = { event: EventId | undefined; asJson: boolean }

export function addRecordsCheck(records: Command): void {
  records
    .command('check')
    .argument('[FILE]', 'JSON lines {"topic","key","value"}, .gz too; - is stdin')
    .description('judge records as the projector does, without storing anything; never prints a value')
    .option('--from-kafka', 'judge what the topics hold, from the first record to the last')
    .option('--type <TYPE>', 'each line is the value of a record of organizations, events, orders or refunds')
    .option('--event <UUID>', 'judge only records with the id of this event in their key or value')
    .option('--partitions <N>', 'partitions of the topics, to judge the partition that a line names')
    .option('--json', 'print one JSON object per finding')
    .action(async (file: string | undefined, { fromKafka, json, event, ...raw }: Raw) => {
      if (file === undefined && !fromKafka) throw new UsageError('give a FILE, - for stdin, or --from-kafka')
      if (file !== undefined && fromKafka) throw new UsageError('give a FILE or --from-kafka, not both')
      if (fromKafka && (raw.type ?? raw.partitions) !== undefined)
        throw new UsageError('--type and --partitions go with a FILE: leave them out')
      const asked = { event: await eventFrom(event), asJson: json === true }
      report(file === undefined ? await checkTopics(asked) : await checkFile(file, raw, asked))
    })
}

async function checkFile(
  file: string,
  raw: Raw,
  { event, asJson }: Asked,
): Promise<Counts & { lines: number }> {
  const [{ createCheck }, { recordTypes }, { readLines }] = await Promise.all([
    import('@tally/projection'),
    import('@tally/contract'),
    import('./lines.ts'),
  ])
  const types = Object.keys(recordTypes) as RecordType[]
  const type = raw.type === undefined ? undefined : oneOf('--type', types, raw.type)
  const partitions =
    raw.partitions === undefined ? undefined : wholeNumber('--partitions', raw.partitions, 1, 99_999)
  const { check, counts } = createCheck()
  const print = createPrinter(asJson)
  const isAsked = createFilter(event)
  let lines = 0
  for await (const read of readLines(file, type)) {
    const { line } = read
    if ('wrong' in read) {
      lines += 1
      await print({ line }, [{ reason: 'line', field: 'line', takes: read.wrong }])
      continue
    }
    const { record, partition = 0 } = read
    if (!isAsked(record)) continue
    const batch = { topic: '', partition, from: 0, next: 1, lastStableOffset: 1, records: [record] }
    const isPlaced = read.partition !== undefined && read.type !== 'organizations'
    const findings = check(read.type, batch, isPlaced ? partitions : undefined)
    await print({ line }, findings.map(withoutPlace))
  }
  return { ...counts, lines }
}

async function checkTopics({ event, asJson }: Asked): Promise<Counts> {
  const [{ createCheck }, { describeTopics, readTopic, topicNames }, { recordTypes }, { createCount }] =
    await Promise.all([
      import('@tally/projection'),
      import('@tally/kafka'),
      import('@tally/contract'),
      import('../../progress.ts'),
    ])
  const { settings, logger } = await openCommand()
  const names = topicNames(settings.topicPrefix)
  const { check, counts } = createCheck()
  const print = createPrinter(asJson)
  const isAsked = createFilter(event)
  await withKafka(settings, logger, async kafka => {
    for (const type of Object.keys(recordTypes) as RecordType[]) {
      const topic = names[type]
      const partitions = (await describeTopics(kafka, [topic])).get(topic)
      const progress = createCount(process.stderr, { name: topic, unit: 'offsets' })
      let read = 0
      try {
        for await (const batch of readTopic(kafka, topic)) {
          const asked = { ...batch, records: batch.records.filter(isAsked) }
          for (const { partition, offset, ...finding } of check(type, asked, partitions))
            await print({ topic, partition, offset }, [finding])
          read += batch.next - batch.from
          progress.show(read, read + batch.left)
        }
      } finally {
        progress.close()
      }
    }
  })
  return counts
}

function withoutPlace<Finding extends { partition: number; offset: number }>(finding: Finding) {
  const { partition: _, offset: __, ...found } = finding
  return found
}

/** Says what was judged on stderr. */
function report({ records, rejected, misplaced, lines = 0 }: Counts & { lines?: number }): void {
  const parts = [`${counted(records, 'record')} checked`, `${rejected} rejected`]
  if (misplaced > 0) parts.push(`${misplaced} in another partition than murmur2 chooses`)
  if (lines > 0) parts.push(`${counted(lines, 'line')} without a record`)
  remark(`records check: ${parts.join(', ')}`)
}

async function eventFrom(text: string | undefined): Promise<EventId | undefined> {
  if (text === undefined) return undefined
  const { eventOf } = await import('../keys/values.ts')
  return eventOf(text)
}

/**
 * Whether a record's key or value has the id of an event anywhere, in lower or upper case: whatever is wrong with a
 * record, such as an envelope or another key, it is found. Every record passes without an event.
 */
function createFilter(event: EventId | undefined) {
  const spellings = event === undefined ? [] : [event, event.toUpperCase()].map(id => Buffer.from(id))
  return ({ key, value }: KafkaRecord): boolean =>
    event === undefined || spellings.some(id => key?.includes(id) || value?.includes(id))
}
