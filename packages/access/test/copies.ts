import { addKey, addOrganization } from '@tally/testkit/records/rows'
import { freshDatabase } from '@tally/testkit/servers/database'
import { testRedis } from '@tally/testkit/servers/redis'
import type { NewKey } from '../keys/store.ts'

/** A database with an organization whose keys are made with `create`, and a Redis for their copies. */
export async function openCopyHarness() {
  const database = await freshDatabase()
  const organizationId = await addOrganization(database.db)
  const { redis, keys } = await testRedis()
  return {
    db: database.db,
    organizationId,
    redis,
    keys,
    create: (more: Partial<NewKey> = {}) => addKey(database.db, organizationId, more),
    async close(): Promise<void> {
      redis.disconnect()
      await database.drop()
    },
  }
}
