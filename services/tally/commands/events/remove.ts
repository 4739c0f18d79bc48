import type { Postgres, Settings } from '@tally/platform'
import type { ChosenEvents } from '@tally/repair'
import type { Command } from 'commander'
import { UsageError } from '../../failure.ts'
import { openCommand, withRevisions } from '../../open.ts'
import { counted, print, remark } from '../../output.ts'

type Raw = { olderThan?: string; yes?: true }

export function addEventsRemove(events: Command): void {
  events
    .command('remove')
    .description('remove events with their orders, refunds, counters and documents, for good')
    .argument('[EVENT...]', 'their ids, as `tally events list` prints them')
    .option('--older-than <AGE>', 'all events that ended before this: 90d, 12w, 18mo, 2y, or a date')
    .option('--yes', 'do it; without this option, only print what would be removed')
    .action(async (texts: string[], { olderThan, yes }: Raw) => {
      if (texts.length > 0 === (olderThan !== undefined))
        throw new UsageError('remove takes EVENTs or --older-than, one of both')
      const choose = await chooserOf(texts, olderThan)
      const { settings } = await openCommand()
      await withRevisions(settings.databaseUrl, async db => {
        const chosen = await choose(db)
        await show(chosen)
        if (isNothing(chosen)) return remark('there is nothing to remove')
        if (yes !== true) throw new UsageError('nothing was changed: repeat with --yes to do it')
        await remove(settings, db, chosen)
      })
    })
}

async function chooserOf(texts: string[], olderThan: string | undefined) {
  const [{ ageOf }, { eventOf }, { chooseByAge, chooseByIds, readTimeBefore }] = await Promise.all([
    import('./values.ts'),
    import('../keys/values.ts'),
    import('@tally/repair'),
  ])
  if (olderThan === undefined) {
    const ids = texts.map(text => eventOf(text, 'EVENT'))
    return (db: Postgres) => chooseByIds(db, ids)
  }
  const age = ageOf(olderThan, Date.now())
  return async (db: Postgres) =>
    chooseByAge(db, 'before' in age ? age.before : await readTimeBefore(db, age.interval))
}

const isNothing = ({ events, unfinished }: ChosenEvents): boolean =>
  events.length === 0 && unfinished.length === 0

async function show({ events, removedBefore, unfinished }: ChosenEvents): Promise<void> {
  const { eventLine, heading } = await import('./lines.ts')
  if (events.length > 0) {
    print(heading, ...events.map(eventLine))
    print(`${sumOf(events)}: these, their refunds, counters and documents are removed for good`)
  }
  for (const id of removedBefore) remark(`tally: event ${id} was removed before`)
  if (unfinished.length > 0)
    remark(
      `an interrupted run has left rows of ${counted(unfinished.length, 'removed event')}: they are deleted too`,
    )
}

async function remove(settings: Settings, db: Postgres, chosen: ChosenEvents): Promise<void> {
  const [{ removeEvents, withRedis }, { commandActor, note }, { topicNames }, { createCount }] =
    await Promise.all([
      import('@tally/repair'),
      import('@tally/access'),
      import('@tally/kafka'),
      import('../../progress.ts'),
    ])
  const progress = createCount(process.stderr, { name: 'remove', unit: 'orders' })
  await withRedis(settings, redis =>
    removeEvents({ db, ...redis }, chosen, {
      eventsTopic: topicNames(settings.topicPrefix).events,
      onRemoved: (tx, { eventId, organizationId, name, orders }) =>
        note(tx, commandActor(organizationId), {
          action: 'event-removed',
          subject: eventId,
          detail: `${name ?? 'an event without a record'}: ${counted(orders, 'order')}`,
        }),
      onProgress: progress.show,
      onDropping: () => remark('dropping what an interrupted `tally rebuild --from-kafka` has read'),
    }),
  ).finally(progress.close)
  print(`removed ${sumOf(chosen.events)}`)
}

function sumOf(events: ChosenEvents['events']): string {
  const orders = events.reduce((sum, event) => sum + event.orders, 0)
  return `${counted(events.length, 'event')} with ${counted(orders, 'order')}`
}
