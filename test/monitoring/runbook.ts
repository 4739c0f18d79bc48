import { tally as command } from '@tally/testkit/processes/command'
import type { Tally } from '@tally/testkit/processes/tally'
import type { newFestival } from '@tally/testkit/records/festival'
import { beginTransaction, deleteBefore } from '@tally/testkit/servers/kafka'
import { until } from '@tally/testkit/until'
import { type Block, readBlocks } from '../clients/blocks.ts'

type Festival = ReturnType<typeof newFestival>
type Listed = { topic: string; partition: number; applied: number; logEnd: number; state: string }

/** Each block of the runbook once; those that name a partition last, because they lose records. */
export function runbookBlocks(): Block[] {
  const blocks = readBlocks(['runbook.md'])
  const distinct = [...new Map(blocks.map(block => [block.text, block])).values()]
  return distinct.toSorted((one, other) => Number(namesPartition(one)) - Number(namesPartition(other)))
}

const namesPartition = ({ text }: Block): boolean => text.includes('$PARTITION')

/** What an operator finds when one of the runbook's commands is needed. */
export function openIncidents(tally: Tally, festival: Festival) {
  const orders = `${tally.settings.TOPIC_PREFIX}.orders`
  let isRunning = true

  const listed = async (): Promise<Listed> => {
    const { stdout } = await command(['offsets', '--json'], tally.settings)
    const all = stdout.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as Listed]))
    const found = all.find(({ topic, logEnd }) => topic === orders && logEnd > 0)
    if (found === undefined) throw new Error('no order was sent')
    return found
  }
  const start = async (): Promise<void> => {
    if (!isRunning) await tally.startProjector()
    isRunning = true
  }
  const end = async (): Promise<void> => {
    if (isRunning) await tally.projectors.at(-1)?.end()
    isRunning = false
  }

  const makeGap = async (): Promise<void> => {
    await end()
    await tally.produce([festival.order(), festival.order(), festival.order()])
    const { partition, logEnd } = await listed()
    await deleteBefore(tally.kafka, { topic: orders, partition, offset: logEnd - 1 })
    await start()
    await until('the partition waits for an operator', async () => (await listed()).state === 'gap')
  }
  const fallBehind = async (): Promise<void> => {
    await until('the partition continues', async () => (await listed()).state !== 'gap')
    await end()
    await tally.produce([festival.order()])
  }
  /** A transaction that its producer never ends; what follows it waits. */
  const holdBack = async (): Promise<Record<string, string>> => {
    const { partition, logEnd } = await listed()
    const transaction = await beginTransaction(tally.kafka)
    await transaction.send({ topic: orders, messages: [{ key: festival.eventId, value: '{', partition }] })
    await tally.produce([festival.order()])
    return { TOPIC: orders, PARTITION: String(partition), OFFSET: String(logEnd) }
  }
  const deadLetter = async (): Promise<string> => {
    const { stdout } = await command(['dead-letters', 'list', '--json', '--limit', '1'], tally.settings)
    return (JSON.parse(stdout) as { id: string }).id
  }

  const place = async () => {
    const { topic, partition, applied } = await listed()
    return { TOPIC: topic, PARTITION: String(partition), OFFSET: String(applied + 1) }
  }

  return {
    /** A record that is rejected. */
    reject: () => tally.count([{ type: 'orders', key: festival.eventId, value: Buffer.from('{') }]),
    /** Brings about what the block is for, and returns the variables that it names. */
    async prepare({ text, exit }: Block): Promise<Record<string, string>> {
      if (exit === 2 && text.includes('offsets accept')) await makeGap()
      else if (exit === 2 && text.includes('offsets skip')) await fallBehind()
      else if (!text.includes('offsets skip')) await start()
      return {
        PROJECTOR: (await tally.projectors.at(-1)?.started())?.ops ?? '',
        ...(text.includes('$ID') && { ID: await deadLetter() }),
        ...(text.includes('$PARTITION') &&
          (text.includes('kafka-transactions.sh') ? await holdBack() : await place())),
      }
    },
    /** Checks that the block has done what it is for. */
    async check({ text }: Block): Promise<void> {
      if (text.includes('kafka-transactions.sh'))
        await until('what follows the transaction is applied', async () => (await listed()).state === 'ok')
    },
    end,
  }
}
