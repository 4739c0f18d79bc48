import { randomUUID } from 'node:crypto'

/** Makes ids that no other process makes: UUIDs that begin at random and end in a number that counts, by 12 hex digits. */
export function requestIds(): () => string {
  const start = randomUUID().slice(0, -12)
  let count = 0
  return () => start + (++count).toString(16).padStart(12, '0')
}
