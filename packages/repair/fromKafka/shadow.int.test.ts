import { freshDatabase } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { openShadow, shadowSchema } from './shadow.ts'

const { db, drop } = await freshDatabase()
afterAll(drop)

test('a run that was ended is gone on with, unless an older program began it and a table is missing', async () => {
  const first = await openShadow(db, 'tally')
  expect(first.continued).toBe(false)
  expect(await openShadow(db, 'tally')).toEqual({ ...first, continued: true })

  await sql`drop table ${sql.id(shadowSchema, 'order_slots')}`.execute(db)
  const anew = await openShadow(db, 'tally')
  expect(anew).toMatchObject({ continued: false, live: first.live })
  expect(await openShadow(db, 'tally')).toEqual({ ...anew, continued: true })
})
