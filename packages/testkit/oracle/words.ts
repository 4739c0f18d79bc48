// biome-ignore lint/suspicious/noExplicitAny: raw records, on purpose without the product's types
export type Any = any
export const low = (text: string) => text.toLowerCase()
export const at = (text: string) => Date.parse(text)
export const cents = (euros: number) => Math.round(euros * 100)
export const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0)
export const sum = (numbers: number[]) => numbers.reduce((total, number) => total + number, 0)
export const utc = (text: string) => new Date(at(text)).toISOString().replace('.000Z', 'Z')
export const unique = <T>(list: T[]) => [...new Set(list)]

/** The query string of the parameters that have a value. */
export function queryOf(parameters: Record<string, unknown>): string {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined)
  return given.length === 0 ? '' : `?${given.map(([name, value]) => `${name}=${String(value)}`).join('&')}`
}
