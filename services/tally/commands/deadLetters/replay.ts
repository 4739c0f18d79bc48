import type { Refused, ReplayDeps } from '@tally/dead-letters'
import type { Command } from 'commander'
import { UsageError } from '../../failure.ts'
import { openCommand, withKafka, withSchema } from '../../open.ts'
import { counted, print, remark } from '../../output.ts'
import { oneOf } from '../../values.ts'

export function addDeadLettersReplay(deadLetters: Command): void {
  deadLetters
    .command('replay')
    .description('send dead letters to their topics again, once, without what was added to them')
    .argument('[ID...]', 'their ids, as `tally dead-letters list` prints them')
    .option('--all', 'all that hold a record and were not replayed yet')
    .option('--reason <REASON>', 'all of this reason that hold a record and were not replayed yet')
    .action(async (texts: string[], { all, reason: given }: { all?: true; reason?: string }) => {
      const [{ deadLetterIdOf }, { rejectionReasons }] = await Promise.all([
        import('./values.ts'),
        import('@tally/contract'),
      ])
      const reason = given === undefined ? undefined : oneOf('--reason', rejectionReasons, given)
      const ways = [texts.length > 0, all === true, reason !== undefined].filter(Boolean).length
      if (ways > 1) throw new UsageError('replay takes IDs, --all or --reason, only one of them')
      if (ways === 0) throw new UsageError('replay takes the IDs of dead letters, --all, or --reason REASON')
      const ids = texts.map(deadLetterIdOf)
      await withDeps(deps => (ids.length > 0 ? replayThese(deps, ids) : replayEvery(deps, reason)))
    })
}

async function withDeps(work: (deps: ReplayDeps) => Promise<void>): Promise<void> {
  const { settings, logger } = await openCommand()
  const { topicPrefix } = settings
  await withSchema(settings.databaseUrl, db =>
    withKafka(settings, logger, async kafka => {
      const { openProducer } = await import('@tally/kafka')
      const producer = await openProducer(kafka)
      try {
        await work({ kafka, producer, db, topicPrefix })
      } finally {
        await producer.close()
      }
    }),
  )
}

/** All that were not replayed yet, or all of one reason. */
async function replayEvery(deps: ReplayDeps, reason: string | undefined): Promise<void> {
  const [{ replayAll }, { commandActor, noteBothEnds }, { createProgress }, { warnOfForeign }] =
    await Promise.all([
      import('@tally/dead-letters'),
      import('@tally/access'),
      import('../../progress.ts'),
      import('./values.ts'),
    ])
  const progress = createProgress(process.stderr, 'replay')
  const which = reason === undefined ? 'all' : `reason ${reason}`
  const { sent, refused, refusedCount, foreign } = await noteBothEnds(deps.db, commandActor(), {
    work: 'replay',
    of: which,
    run: () =>
      replayAll(deps, {
        reason,
        onProgress: (sent, share) => progress.show(share, `${sent.toLocaleString('en-US')} sent`),
      }),
    outcome: ({ sent, refusedCount }) => `${which}: ${sent} sent, ${refusedCount} refused`,
  }).finally(() => progress.close())
  warnOfForeign(foreign)
  warnOfRefused(refused)
  if (sent > 0) print(`replayed ${counted(sent, 'dead letter')}`)
  else if (refusedCount === 0)
    print(`there are no dead letters${reason === undefined ? '' : ` of the reason ${reason}`} to replay`)
  if (refusedCount > 0) throw new Error(`${counted(refusedCount, 'dead letter')} cannot be replayed`)
}

async function replayThese(deps: ReplayDeps, ids: string[]): Promise<void> {
  const [{ replayDeadLetters }, { commandActor, noteBothEnds }] = await Promise.all([
    import('@tally/dead-letters'),
    import('@tally/access'),
  ])
  const { sent, before, refused, unknown } = await noteBothEnds(deps.db, commandActor(), {
    work: 'replay',
    of: ids.join(', ').slice(0, 500),
    run: () => replayDeadLetters(deps, ids),
    outcome: ({ sent, refused }) => `${sent.length} sent, ${refused.length} refused`,
  })
  for (const id of sent) print(`replayed ${id}`)
  for (const id of before) remark(`tally: ${id} was replayed before: nothing is sent`)
  warnOfRefused(refused)
  if (unknown.length > 0)
    throw new Error(`there is no dead letter ${unknown.join(', nor ')}: see \`tally dead-letters list\``)
  if (refused.length > 0) throw new Error(`${counted(refused.length, 'dead letter')} cannot be replayed`)
}

function warnOfRefused(refused: Refused[]): void {
  for (const { id, why } of refused) remark(`tally: ${id} cannot be replayed: ${why}`)
}
