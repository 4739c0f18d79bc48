import { addKey, addOrganization } from '@tally/testkit/records/rows'
import { freshDatabase } from '@tally/testkit/servers/database'
import { testRedis } from '@tally/testkit/servers/redis'
import type { NewKey } from '../keys/store.ts'

/** Fewer than an organization may have (keys/store.ts). */
const keysEach = 150

/**
 * A database with an organization whose keys are made with `create`, and a Redis for their copies. Keys beyond 150 are
 * of other organizations.
 */
export async function openCopyHarness() {
  const database = await freshDatabase()
  const organizationId = await addOrganization(database.db)
  let owner = organizationId
  let made = 0
  const { redis, keys } = await testRedis()
  return {
    db: database.db,
    organizationId,
    redis,
    keys,
    async create(more: Partial<NewKey> = {}) {
      if (made > 0 && made % keysEach === 0) owner = await addOrganization(database.db)
      made += 1
      return addKey(database.db, owner, more)
    },
    async close(): Promise<void> {
      redis.disconnect()
      await database.drop()
    },
  }
}
