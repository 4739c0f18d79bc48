import { UsageError } from '../../failure.ts'
import { openCommand, withKafka, withSchema } from '../../open.ts'

type Parts = Parameters<typeof import('@tally/repair').planAccept>[0]
type Move = Awaited<ReturnType<typeof import('@tally/repair').planAccept>>

/** Prints what a move gives up and makes it if confirmed; otherwise changes nothing and throws a UsageError. */
export async function moveOnYes(isConfirmed: boolean, plan: (parts: Parts) => Promise<Move>): Promise<void> {
  const { settings, logger } = await openCommand()
  const { topicPrefix } = settings
  await withSchema(settings.databaseUrl, db =>
    withKafka(settings, logger, async kafka => {
      const parts = { kafka, db, topicPrefix }
      const planned = await plan(parts)
      console.log(planned.givesUp)
      if (!isConfirmed) throw new UsageError('nothing was changed: repeat with --yes to do it')
      const [{ openProducer }, { move }] = await Promise.all([
        import('@tally/kafka'),
        import('@tally/repair'),
      ])
      const producer = await openProducer(kafka)
      await move(parts, producer, planned).finally(() => producer.close())
      console.log(`${planned.topic}-${planned.partition} continues at offset ${planned.next}`)
    }),
  )
}
