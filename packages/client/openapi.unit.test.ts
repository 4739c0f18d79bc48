import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { generatedFile, generatedTypes } from './generate.ts'

test('openapi.ts has the types and paths of the OpenAPI document (npm run generate -w @tally/client renews it)', async () => {
  expect(readFileSync(generatedFile, 'utf8')).toBe(await generatedTypes())
})
