import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { badForm } from './problem.ts'

/** What a form sent, by the names of its fields; a field that was sent more than once has all its values. */
export type Fields = Record<string, string | string[] | undefined>

export const fieldsOf = ({ body }: FastifyRequest): Fields => (body ?? {}) as Fields

/** One text of a form, empty where it is absent. */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

/** All values of a field that may be ticked several times. */
export function listOf(fields: Fields, name: string): string[] {
  const value = fields[name]
  return value === undefined ? [] : [value].flat()
}

/** What is wrong with each field: its name and a sentence. */
export type Mistakes = Record<string, string>

/** Reads a form or a query that only a broken link or a hand-made request gets wrong. */
export function parseOr400<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (!parsed.success) throw badForm()
  return parsed.data
}
