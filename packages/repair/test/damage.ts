import { tally as command, parsedLines } from '@tally/testkit/processes/command'
import type { Tally, TestRecord } from '@tally/testkit/processes/tally'
import { newFestival } from '@tally/testkit/records/festival'
import { allKeys } from '@tally/testkit/servers/redis'
import { sql } from 'kysely'
import { expect } from 'vitest'

export type Line = {
  event?: string
  organization?: string
  where: string
  what: string
  found: unknown
  counted: unknown
}

/** Runs `tally verify` and returns its exit code with what it printed, parsed. */
export async function verifyAll({
  settings,
}: Tally): Promise<{ code: number | null; lines: Line[]; stderr: string }> {
  const { code, stdout, stderr } = await command(['verify'], settings)
  return { code, lines: parsedLines(stdout), stderr }
}

/** Fails with the first differences if `tally verify` finds any. */
export async function expectClean(tally: Tally): Promise<void> {
  const { code, lines, stderr } = await verifyAll(tally)
  expect({ code, lines: lines.slice(0, 5), stderr }).toMatchObject({ code: 0, lines: [] })
}

/** Runs `tally rebuild` and fails if it does; returns what it printed. */
export async function rebuildAll({ settings }: Tally, ...options: string[]) {
  const { code, stdout, stderr } = await command(['rebuild', ...options], settings)
  if (code !== 0) throw new Error(`tally rebuild failed:\n${stderr}`)
  return { stdout, stderr }
}

/** A festival with orders of two days, areas and many hours, some refunded, one refund whose order never arrives. */
export function aBusyFestival(orders = 40) {
  const festival = newFestival()
  const orderIds = Array.from({ length: orders }, (_, i) => `A-${String(i).padStart(5, '0')}`)
  const records: TestRecord[] = [
    festival.organization(),
    festival.event(),
    ...orderIds.map((orderId, i) =>
      festival.order({
        orderId,
        areaId: 1 + (i % 2),
        dayId: 41 + (i % 2),
        paymentMethod: ['Cash', 'Card', 'card', ''][i % 4],
        status: i % 7 === 0 ? 'Pending' : 'Paid',
        orderDateTime: new Date(Date.UTC(2026, 8, 4, 16, i * 7)).toISOString(),
      }),
    ),
    ...orderIds.filter((_, i) => i % 5 === 1).map(orderId => festival.refund({ orderId })),
    festival.refund({ orderId: 'never-comes' }),
  ]
  return { festival, orderIds, records }
}

/** Changes the database directly. */
export async function damage({ database }: Tally, statement: string): Promise<void> {
  await sql.raw(statement).execute(database.db)
}

export const keysOf = ({ settings }: Tally) => allKeys(settings.REDIS_PREFIX ?? '')
