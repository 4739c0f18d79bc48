import type { Bench } from './bench.ts'

/** A whole number of a section of Redis's INFO; NaN if it has no such field. */
export async function redisInfo({ redis }: Pick<Bench, 'redis'>, section: string, field: string) {
  return Number(new RegExp(`^${field}:(\\d+)`, 'm').exec(await redis.info(section))?.[1])
}
