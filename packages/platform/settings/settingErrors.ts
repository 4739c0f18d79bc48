import { isIP } from 'node:net'
import type { z } from 'zod'
import { FatalError } from '../lifecycle/errors.ts'
import { hasCertificate, list } from './settingValues.ts'

/** A setting has a wrong value; the message names the setting, its value (never a password) and what it takes. */
export class SettingsError extends FatalError {
  override name = 'SettingsError'
  /** The names of the wrong settings. */
  readonly settings: string[]

  constructor(message: string, settings: string[]) {
    super(message)
    this.settings = settings
  }
}

/**
 * Node passes over a file of certificate authorities that it cannot use; it prints a line of text if it cannot read it,
 * as soon as TLS is loaded. Every certificate of such an authority would then be refused.
 */
export function checkAuthorities(file: string | undefined): void {
  if (file === undefined || hasCertificate(file)) return
  const takes = 'the name of a file that can be read and has a certificate in PEM format'
  throw new SettingsError(`NODE_EXTRA_CA_CERTS is ${JSON.stringify(file)}; it takes ${takes}`, [
    'NODE_EXTRA_CA_CERTS',
  ])
}

/** The sentence about a wrong value of a setting. */
export function wrongValue(name: string, value: string | undefined, schema: z.ZodType): string {
  const { takes = 'another value', isSecret } = (schema.meta() ?? {}) as { takes?: string; isSecret?: true }
  const shown = isSecret ? '***' : withoutPassword(value ?? '')
  return `${name} is ${JSON.stringify(shown)}; it takes ${takes}`
}

/**
 * Removes whatever may be a password, in the value of any setting: everything between the scheme and the last `@`,
 * everything after `password=`, and the whole value if a colon is followed by something other than a port and it is
 * not a list of IPv6 addresses.
 */
function withoutPassword(value: string): string {
  const [, scheme = '', address = ''] = /^([a-z]+:\/\/)?([\s\S]*)$/i.exec(value) ?? []
  const named = address.replace(/(pass\w*\s*=)[\s\S]*/i, '$1***')
  if (named.includes('@')) return `${scheme}***${named.slice(named.lastIndexOf('@'))}`
  const isPlain = !/:(?!\d{1,5}([/,?]|$))/.test(named) || list(named).every(hasIpAddress)
  return `${scheme}${isPlain ? named : '***'}`
}

const hasIpAddress = (text: string): boolean => isIP(text.split('/')[0] ?? '') !== 0
