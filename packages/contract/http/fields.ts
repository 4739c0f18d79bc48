import { z } from 'zod'

/** Values that the answers of several endpoints have. */
export const currency = z.literal('EUR')
export const utc = z.iso.datetime()
export const euros = z.number().describe('EUR')
