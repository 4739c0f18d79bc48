import { freshDatabase } from '../../../test/support/database.ts'
import { testRedis } from '../../../test/support/redis.ts'
import type { NewKey } from '../store.ts'
import { addKey, addOrganization } from './rows.ts'

/** A database with an organization whose keys are made with `create`, and a Redis for their copies. */
export async function openCopyStage() {
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
