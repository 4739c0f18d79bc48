import type { RecordType } from '@tally/contract'
import type { Command } from 'commander'
import { openCommand } from '../open.ts'
import { printText } from '../output.ts'
import { oneOf } from '../values.ts'

export function addContract(program: Command): void {
  const contract = program.command('contract').description('print what clients and producers build against')
  contract
    .command('openapi')
    .description('print the OpenAPI 3.1 document of the v1 API, as the API answers it')
    .action(async () => {
      const { openApiDocument } = await import('@tally/contract')
      const { settings } = await openCommand()
      await printJson(openApiDocument(settings.query.contact))
    })
  contract
    .command('asyncapi')
    .description('print the AsyncAPI 3 document of the topics: keys, partitions, schemas of the records')
    .action(async () => {
      const { asyncApiDocument } = await import('@tally/contract')
      const { settings } = await openCommand()
      await printJson(asyncApiDocument(settings))
    })
  contract
    .command('schemas')
    .argument('[TYPE]', 'only the schema of organizations, events, orders or refunds')
    .description('print the JSON Schemas (2020-12) of the records, as one object by record type')
    .action(async (type: string | undefined) => {
      const { recordJsonSchema, recordTypes } = await import('@tally/contract')
      const types = Object.keys(recordTypes) as RecordType[]
      if (type === undefined)
        return printJson(Object.fromEntries(types.map(type => [type, recordJsonSchema(type)])))
      await printJson(recordJsonSchema(oneOf('TYPE', types, type)))
    })
}

const printJson = (document: unknown) => printText(`${JSON.stringify(document, null, 2)}\n`)
