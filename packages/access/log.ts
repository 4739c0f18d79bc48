/** The part of a logger that this package needs. */
export type Log = Record<'debug' | 'info' | 'warn', (fields: object, message: string) => void>
