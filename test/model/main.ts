import { parseArgs } from 'node:util'
import { type Run, runs } from './runs.ts'
import { type Found, requireSpin, search } from './spin.ts'

const usage = `usage: npm run test:model [-- --short | --only NAME,NAME | --trace NAME | --list]`

/** `npm run test:model`: 1 if a rule in force is refuted or a former one is not. `--trace NAME`: its counterexample. */
async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      short: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
      only: { type: 'string' },
      trace: { type: 'string' },
    },
  })
  const names = (values.trace ?? values.only)?.split(',')
  const unknown = names?.filter(name => !runs.some(run => run.name === name)) ?? []
  if (unknown.length > 0) {
    console.error(`no run is named ${unknown.join(', ')}\n${usage}`)
    return 2
  }
  const chosen = runs.filter(({ name, isShort }) => names?.includes(name) ?? (isShort || !values.short))
  if (values.list) {
    for (const { name, about } of chosen) console.log(`${name.padEnd(18)} ${about}`)
    return 0
  }
  await requireSpin(line => console.error(line))
  return values.trace === undefined ? searchAll(chosen) : printTrace(chosen)
}

async function searchAll(chosen: Run[]): Promise<number> {
  let wrong = 0
  console.log('| search | states | depth | memory | time | found |\n|---|---|---|---|---|---|')
  for (const run of chosen) {
    const found = await search(run)
    const isRight = found.violated === run.violates
    if (!isRight) wrong += 1
    console.log(rowOf(run, found))
    if (!isRight) console.log([`WRONG: ${run.violates ?? 'nothing'} was expected`, ...found.trace].join('\n'))
  }
  console.log(wrong === 0 ? 'all as expected' : `${wrong} not as expected`)
  return wrong === 0 ? 0 : 1
}

function rowOf({ name }: Run, { states, depth, megabytes, seconds, violated }: Found): string {
  const cells = [name, states.toLocaleString('en'), depth, `${Math.round(megabytes)} MB`, `${seconds} s`]
  return `| ${[...cells, violated ?? 'nothing'].join(' | ')} |`
}

async function printTrace(chosen: Run[]): Promise<number> {
  for (const run of chosen) {
    const { violated, trace } = await search(run, { isShortest: true })
    console.log(`${run.name}: ${run.about}\n`)
    console.log(violated === undefined ? 'no counterexample' : trace.join('\n'))
  }
  return 0
}

process.exit(await main(process.argv.slice(2)))
