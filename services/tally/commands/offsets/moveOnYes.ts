import type { planAccept } from '@tally/repair'
import { UsageError } from '../../failure.ts'
import { openCommand, withKafka, withSchema } from '../../open.ts'
import { print } from '../../output.ts'

type Deps = Parameters<typeof planAccept>[0]
type Move = Awaited<ReturnType<typeof planAccept>>

/** Prints what a move gives up and makes it if confirmed; otherwise changes nothing and throws a UsageError. */
export async function moveOnYes(isConfirmed: boolean, plan: (deps: Deps) => Promise<Move>): Promise<void> {
  const { settings, logger } = await openCommand()
  const { topicPrefix } = settings
  await withSchema(settings.databaseUrl, db =>
    withKafka(settings, logger, async kafka => {
      const deps = { kafka, db, topicPrefix }
      const planned = await plan(deps)
      print(planned.givesUp)
      if (!isConfirmed) throw new UsageError('nothing was changed: repeat with --yes to do it')
      const [{ openProducer }, { move }, { commandActor, note }] = await Promise.all([
        import('@tally/kafka'),
        import('@tally/repair'),
        import('@tally/access'),
      ])
      const { topic, partition, reason, givesUp, next } = planned
      const entry = {
        action: reason === 'skipped' ? 'offsets-skipped' : 'offsets-accepted',
        subject: `${topic} ${partition}`,
        detail: `${givesUp}; continues at offset ${next}`,
      } as const
      const producer = await openProducer(kafka)
      await move(deps, producer, planned, tx => note(tx, commandActor(), entry)).finally(() =>
        producer.close(),
      )
      print(`${planned.topic}-${planned.partition} continues at offset ${planned.next}`)
    }),
  )
}
