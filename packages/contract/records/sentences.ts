import type { z } from 'zod'

/** What belongs in a field of each type, in the words of docs/records.md. */
const nouns: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
}

/** The sentence for an issue whose rule has none of its own; it never has the value, which may be personal data. */
export const issueSentence: z.core.$ZodErrorMap = issue => {
  const sentence = `must be ${wantedIn(issue)}`
  if (issue.input === undefined) return `${sentence}, and is missing`
  const isQuoted = typeof issue.input === 'string' && issue.code === 'invalid_type'
  return isQuoted ? `${sentence}, not a string` : sentence
}

function wantedIn(issue: z.core.$ZodRawIssue): string {
  if (issue.code === 'invalid_value') return `one of ${issue.values.join(', ')}`
  if (issue.code !== 'invalid_type') return 'another value'
  // JSON's 1e999.
  if (issue.expected === 'number' && typeof issue.input === 'number') return 'a finite number'
  return nouns[issue.expected] ?? `of the type ${issue.expected}`
}
