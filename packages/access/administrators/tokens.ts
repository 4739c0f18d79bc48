import { hash, randomBytes } from 'node:crypto'

/** 256 random bits, for a cookie or a link. */
export const newToken = (): string => randomBytes(32).toString('base64url')

/** What is stored of a token: 256 random bits need no salt and no slow hash. */
export const sha256 = (token: string): Buffer => hash('sha256', token, 'buffer')
