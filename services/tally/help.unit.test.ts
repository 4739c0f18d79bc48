import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { commandsOf, helpOf } from './help.ts'
import { createProgram } from './program.ts'

const commands = commandsOf(createProgram())
const byName = new Map(commands)

test('each command has examples and a document that exists', () => {
  expect(Object.keys(helpOf).toSorted()).toEqual([...byName.keys()].toSorted())
  for (const [name, { docs, examples }] of Object.entries(helpOf)) {
    expect([name, existsSync(join(import.meta.dirname, '../..', docs))]).toEqual([name, true])
    expect(examples.length).toBeGreaterThan(0)
  }
})

/** Words as a shell has them; of quotes, only single ones. */
const wordsOf = (line: string) => [...line.matchAll(/'([^']*)'|\S+/g)].map(([word, quoted]) => quoted ?? word)

test.for(
  Object.entries(helpOf).flatMap(([name, { examples }]) => examples.map(line => [name, line] as const)),
)('%s: “%s” is right usage', ([, line]) => {
  const [, ...words] = wordsOf(line.replace(/^(\w+=\S+ )*/, '').replace(/ > .*/, ''))
  let command = byName.get('tally')
  while (command?.commands.some(one => one.name() === words[0])) {
    const name = words.shift()
    command = command.commands.find(one => one.name() === name)
  }
  const { operands, unknown } = command?.parseOptions(words) ?? { operands: [], unknown: ['?'] }
  expect(unknown.filter(word => word !== '--help')).toEqual([])
  const missing = command?.options.filter(
    option => option.mandatory && command.getOptionValue(option.attributeName()) === undefined,
  )
  if (!unknown.includes('--help')) expect(missing?.map(({ long }) => long)).toEqual([])
  const takes = command?.registeredArguments ?? []
  expect(operands.length).toBeGreaterThanOrEqual(takes.filter(({ required }) => required).length)
  if (!takes.some(({ variadic }) => variadic)) expect(operands.length).toBeLessThanOrEqual(takes.length)
})

test('the help of a command marks what it requires, and shows lines to copy', () => {
  const written: string[] = []
  const create = byName.get('keys create')
  create?.configureOutput({ writeOut: text => void written.push(text) }).outputHelp()
  const help = written.join('')
  expect(help.replace(/\s+/g, ' ')).toContain('--name <NAME> what it is for, 1 to 200 characters (required)')
  expect(help.replace(/\s+/g, ' ')).not.toMatch(/bind it to one event of that organization \(required\)/)
  expect(help).toMatch(
    /\nExamples:\n {2}tally keys create --organization .*\n\nDocumentation: docs\/reference\.md\n$/,
  )
})
