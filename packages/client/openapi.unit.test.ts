import { readFileSync } from 'node:fs'
import { endpoints } from '@tally/contract'
import { expect, test } from 'vitest'
import { generatedFile, generatedTypes } from './generate.ts'
import { paths } from './operations.ts'

test('openapi.ts has the types of the OpenAPI document (npm run generate -w @tally/client renews it)', async () => {
  expect(readFileSync(generatedFile, 'utf8')).toBe(await generatedTypes())
})

test('the client has all operations, at their paths', () => {
  const documented = Object.entries(endpoints).map(([name, { url }]) => [
    name,
    url.replaceAll(/:(\w+)/g, '{$1}'),
  ])
  expect(paths).toEqual(Object.fromEntries(documented))
})
