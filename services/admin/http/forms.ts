import type { FastifyRequest } from 'fastify'
import { z } from 'zod'
import { badForm } from './problem.ts'

/** A form's fields by name; a repeated one has all its values. */
export type Fields = Record<string, string | string[] | undefined>

export const formFields = ({ body }: FastifyRequest): Fields => (body ?? {}) as Fields

/** One value of a form; empty if it is absent or repeated. */
export function textOf(fields: Fields, name: string): string {
  const value = fields[name]
  return typeof value === 'string' ? value : ''
}

/** All values of a field that may be repeated, such as checkboxes. */
export function listOf(fields: Fields, name: string): string[] {
  const value = fields[name]
  return value === undefined ? [] : [value].flat()
}

/** A message for each invalid field, by name. */
export type Mistakes = Record<string, string>

/** The number of a row in a path or a query. */
export const rowNumber = z
  .string()
  .regex(/^[1-9]\d{0,14}$/)
  .transform(Number)

/** Parses a form or a query that only a broken link or a forged request gets wrong. */
export function parseOr400<Schema extends z.ZodType>(schema: Schema, given: unknown): z.output<Schema> {
  const parsed = schema.safeParse(given)
  if (!parsed.success) throw badForm()
  return parsed.data
}
