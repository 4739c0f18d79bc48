import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openApiDocument } from '@tally/contract'
import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript'

export const generatedFile = join(import.meta.dirname, 'openapi.ts')

/** The types of the OpenAPI document, as `npm run generate -w @tally/client` writes them. */
export async function generatedTypes(): Promise<string> {
  const nodes = await openapiTypes(structuredClone(openApiDocument()) as unknown as OpenAPI3, {
    alphabetize: false,
  })
  return `// Generated from the OpenAPI document by generate.ts. Do not edit.\n\n${astToString(nodes)}`
}

if (import.meta.main) writeFileSync(generatedFile, await generatedTypes())
