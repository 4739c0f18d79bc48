import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { endpoints, openApiDocument, problemTypes } from '@tally/contract'
import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript'

export const generatedFile = join(import.meta.dirname, 'openapi.ts')

/** The types, paths and names of problems of the API, as `npm run generate -w @tally/client` writes them. */
export async function generatedTypes(): Promise<string> {
  const nodes = await openapiTypes(structuredClone(openApiDocument()) as unknown as OpenAPI3, {
    alphabetize: false,
  })
  return `// Generated from the OpenAPI document by generate.ts. Do not edit.

${astToString(nodes)}
/** The path of each operation, with the names of its parameters, as a URI template (RFC 6570). */
export const pathOf = {
${linesOf(Object.entries(endpoints), ([name, { url, query }]) => {
  const path = url.replaceAll(/:(\w+)/g, '{$1}')
  return `    ${name}: "${path}{?${Object.keys(query.shape)}}",`
})}
} as const satisfies Record<keyof operations, string>;
/** The \`type\` of a problem without \`/problems/\`; \`unknown\` is an answer that is not Tally's. */
export type ProblemName =
${linesOf([...Object.keys(problemTypes), 'unknown'], name => `    | "${name}"`)};
`
}

const linesOf = <Value>(values: Value[], line: (value: Value) => string): string =>
  values.map(line).join('\n')

if (import.meta.main) writeFileSync(generatedFile, await generatedTypes())
