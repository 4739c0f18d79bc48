import { freshDatabase } from '@tally/testkit/servers/database'
import { sql } from 'kysely'
import { afterAll, expect, test } from 'vitest'
import { openShadow, shadowSchema } from './shadow.ts'

const { db, drop } = await freshDatabase()
afterAll(drop)

test('an interrupted run is continued, unless an older version began it and a table is missing', async () => {
  const first = await openShadow(db, 'tally')
  expect(first.continued).toBe(false)
  expect(await openShadow(db, 'tally')).toEqual({ ...first, continued: true })

  await sql`drop table ${sql.id(shadowSchema, 'order_slots')}`.execute(db)
  const replaced = await openShadow(db, 'tally')
  expect(replaced).toMatchObject({ continued: false, live: first.live })
  expect(await openShadow(db, 'tally')).toEqual({ ...replaced, continued: true })
})
