import type { DeadLetter, printDeadLetter, readWaiting } from '@tally/dead-letters'
import type { Command } from 'commander'
import { openCommand, withKafka, withSchema } from '../../open.ts'
import { printMany, remark } from '../../output.ts'
import { wholeNumber } from '../../values.ts'

export function addDeadLettersList(deadLetters: Command): void {
  deadLetters
    .command('list')
    .description('list the dead letters that were not replayed, the oldest first; never a value')
    .option('--json', 'print one JSON object per line')
    .option('--limit <N>', 'only the newest N; reads no more of the topic than they need')
    .action(async ({ json, limit: text }: { json?: true; limit?: string }) => {
      const limit = text === undefined ? undefined : wholeNumber('--limit', text, 1)
      const { settings, logger } = await openCommand()
      await withSchema(settings.databaseUrl, db =>
        withKafka(settings, logger, kafka =>
          list(readPieces({ db, kafka }, settings.topicPrefix, limit), json === true),
        ),
      )
    })
}

type Deps = Parameters<typeof readWaiting>[0]
type Printed = ReturnType<typeof printDeadLetter>
type Piece = { entries: Omit<DeadLetter, 'value' | 'headers'>[]; foreign: number }

async function* readPieces(
  deps: Deps,
  topicPrefix: string,
  limit: number | undefined,
): AsyncGenerator<Piece> {
  const { readNewest, readWaiting } = await import('@tally/dead-letters')
  if (limit === undefined) return yield* readWaiting(deps, topicPrefix)
  const { entries, foreign } = await readNewest(deps, topicPrefix, { limit })
  yield { entries: entries.slice(0, limit).reverse(), foreign }
}

async function list(pieces: AsyncIterable<Piece>, asJson: boolean): Promise<void> {
  const { printDeadLetter } = await import('@tally/dead-letters')
  const { warnOfForeign } = await import('./values.ts')
  let listed = 0
  let foreign = 0
  for await (const read of pieces) {
    const printed = read.entries.map(printDeadLetter)
    const lines = printed.map(entry => (asJson ? JSON.stringify(entry) : lineOf(entry)))
    if (listed === 0 && lines.length > 0 && !asJson) lines.unshift(heading)
    await printMany(lines)
    listed += read.entries.length
    foreign += read.foreign
  }
  warnOfForeign(foreign)
  if (listed === 0) remark('there are no dead letters')
}

/** Widths for what Tally itself writes: reasons, and timestamps with milliseconds. Ids and keys may have any length. */
const columns = (at: string, reason: string, id: string, key: string, message: string) =>
  `${at.padEnd(24)}  ${reason.padEnd(13)}  ${id.padEnd(28)}  ${key.padEnd(36)}  ${message}`
const heading = columns('AT', 'REASON', 'ID', 'KEY', 'MESSAGE')

function lineOf({ id, reason, message, key, keyBase64, at }: Printed): string {
  const shownKey = keyBase64 === undefined ? (key ?? '(none)') : `base64:${keyBase64}`
  return columns(at, reason, id, shownKey, message)
}
