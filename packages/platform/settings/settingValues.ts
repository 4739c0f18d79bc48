import { readFileSync } from 'node:fs'
import { isIP } from 'node:net'
import { z } from 'zod'
import { parseSentinels } from './redisUrl.ts'

/** Schemas for values of settings, used in `settings.ts`. */
export const anyPort = z
  .string()
  .regex(/^\d{1,5}$/)
  .transform(Number)
  .pipe(z.number().max(65535))
export const port = (fallback: number) => anyPort.default(fallback).meta({ takes: 'a port from 0 to 65535' })
/** A whole number from 1. */
export const count = (fallback: number) =>
  z
    .string()
    .regex(/^[1-9]\d{0,8}$/)
    .transform(Number)
    .default(fallback)
    .meta({ takes: 'a whole number from 1' })
const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const
/** A whole number from 1 with a unit, in milliseconds. */
export const duration = z
  .string()
  .regex(/^[1-9]\d{0,5}[smhd]$/)
  .transform(text => Number(text.slice(0, -1)) * unitsMs[text.slice(-1) as keyof typeof unitsMs])
export const flag = z.stringbool().default(false).meta({ takes: 'true or false' })
export const list = (text: string) =>
  text
    .split(',')
    .map(part => part.trim())
    .filter(part => part !== '')

export const brokers = z
  .string()
  .transform(list)
  .refine(
    all =>
      all.length > 0 && all.every(broker => /^[^\s:/@]+:\d{1,5}$|^\[[0-9a-f:]+\]:\d{1,5}$/i.test(broker)),
  )

/** Keys of 256 bits. */
export const secretKeys = z
  .string()
  .transform(list)
  .refine(keys => keys.every(key => /^[0-9a-f]{64}$/i.test(key)))

const url =
  (...protocols: string[]) =>
  (text: string) =>
    URL.canParse(text) && protocols.includes(new URL(text).protocol)

/** The nodes of a cluster are all reached over TLS, or none, and have no database but 0. */
const areNodes = (nodes: string[]): boolean => {
  if (!nodes.every(url('redis:', 'rediss:'))) return false
  const urls = nodes.map(node => new URL(node))
  return (
    urls.length === 1 || urls.every(one => one.protocol === urls[0]?.protocol && /^\/?0?$/.test(one.pathname))
  )
}

/** Commas between sentinels belong to one address; commas of a Redis Cluster separate its nodes. */
export const redisNodes = z
  .string()
  .transform(text => (parseSentinels(text) === undefined ? list(text) : [text]))
  .refine(nodes => nodes.length > 0 && (parseSentinels(nodes[0] ?? '') !== undefined || areNodes(nodes)))

export const rateLimits = z
  .string()
  .transform(list)
  .refine(parts => parts.every(part => /^(Trial|ActiveDayPass|Inactive)=[1-9]\d{0,8}$/.test(part)))
  .transform(parts => Object.fromEntries(parts.map(part => part.split('='))) as Record<string, string>)
  .transform(given => ({
    Trial: Number(given.Trial ?? 2),
    ActiveDayPass: Number(given.ActiveDayPass ?? 60),
    Inactive: Number(given.Inactive ?? 2),
  }))

/** An address without a path, because paths are appended to it. */
export const base = (text: string) =>
  /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text

/** Whom clients of the API may ask: an e-mail address, or a page. */
export const contact = (text: string) => z.email().safeParse(text).success || url('https:', 'http:')(text)

/** OpenID Connect requires TLS, except for a provider on this machine. */
export const issuer = (text: string) =>
  url('https:')(text) ||
  (url('http:')(text) && /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(text).hostname))

export const network = (text: string) => {
  const [address = '', bits, ...rest] = text.split('/')
  const version = isIP(address)
  if (version === 0 || rest.length > 0) return false
  return bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
}

export const origin = (text: string) =>
  text === '*' || (/^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text)

/** Whether a file can be read and has a certificate that OpenSSL would find there. */
export function hasCertificate(file: string): boolean {
  try {
    return /^-----BEGIN (X509 |TRUSTED )?CERTIFICATE-----/m.test(readFileSync(file, 'utf8'))
  } catch {
    return false
  }
}
