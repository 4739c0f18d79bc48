import { eventId, organizationId, scope } from '@tally/contract'
import { z } from 'zod'
import type { StoredKey } from '../keys/apiKey.ts'
import type { AccessKeys, AccessRedis } from '../redis.ts'

/**
 * Redis has a copy of every key, for when Postgres does not answer. It holds the hash of the secret, never the secret,
 * and no time of last use. It expires a week after it was last written. A copy that the last round of copying
 * (publish.ts) did not write again is not used: the key was deleted from Postgres, or Postgres lost it.
 */
export const copyLifeSeconds = 7 * 24 * 3600

const time = z.number().nullable()
const copyShape = z.object({
  keyId: z.string(),
  organizationId,
  name: z.string(),
  scopes: z.array(scope),
  eventId: eventId.nullable(),
  createdAt: z.number(),
  expiresAt: time,
  revokedAt: time,
  /** Written by putApiKey.3.lua; missing in copies of older versions. */
  round: z.number().optional(),
  secretSha256: z.string().regex(/^[0-9a-f]{64}$/),
})

/** Writes a key's copy. A copy that says revoked stays, unless a round earlier than `round` wrote it. */
export async function copyKey(
  redis: AccessRedis,
  keys: AccessKeys,
  stored: StoredKey,
  round = 0,
): Promise<void> {
  await redis.putApiKey(
    keys.apiKey(stored.key.keyId),
    keys.apiKeysRound,
    keys.apiKeysCopiedRound,
    formatCopy(stored),
    stored.key.revokedAt === null ? '0' : '1',
    copyLifeSeconds,
    round,
  )
}

/** A key's copy as text: equal for equal records. */
export function formatCopy({ key, secretSha256 }: StoredKey): string {
  const { lastUsedAt: _, ...kept } = key
  return JSON.stringify({ ...kept, secretSha256: secretSha256.toString('hex') })
}

/**
 * Reads the copies of keys. A key without a copy is unknown only if the copies are complete (publish.ts); otherwise
 * this throws, because the key cannot be checked. Also throws if a copy belongs to another key.
 */
export async function readCopies(
  redis: AccessRedis,
  keys: AccessKeys,
  keyIds: string[],
): Promise<Map<string, StoredKey>> {
  // One command, so that Redis cannot lose them in between.
  const [copiedAt, copiedRound, ...texts] = await redis.mget(
    keys.apiKeysCopied,
    keys.apiKeysCopiedRound,
    ...keyIds.map(keys.apiKey),
  )
  const found = new Map<string, StoredKey>()
  for (const [index, keyId] of keyIds.entries()) {
    const text = texts[index] ?? null
    const copy = text === null ? undefined : parseCopy(keyId, text)
    const lastRound = Number(copiedRound ?? 0)
    if (copy !== undefined && (copy.round ?? lastRound) >= lastRound) found.set(keyId, copy.stored)
    else if (copiedAt === null) throw new Error('Redis lost copies of the API keys')
  }
  return found
}

function parseCopy(keyId: string, text: string): { stored: StoredKey; round: number | undefined } {
  const { secretSha256, round, ...key } = copyShape.parse(JSON.parse(text))
  if (key.keyId !== keyId) throw new Error('Redis answered with the copy of another API key')
  const stored = { key: { ...key, lastUsedAt: null }, secretSha256: Buffer.from(secretSha256, 'hex') }
  return { stored, round }
}
