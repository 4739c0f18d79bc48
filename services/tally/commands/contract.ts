import type { Command } from 'commander'
import { printText } from '../output.ts'

export function addContract(program: Command): void {
  const contract = program.command('contract').description('print what clients and producers build against')
  contract
    .command('openapi')
    .description('print the OpenAPI 3.1 document of the v1 API, as the API answers it')
    .action(async () => {
      const { openApiDocument } = await import('@tally/contract')
      await printJson(openApiDocument())
    })
}

const printJson = (document: unknown) => printText(`${JSON.stringify(document, null, 2)}\n`)
