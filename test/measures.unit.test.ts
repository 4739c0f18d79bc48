import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import ts from '../packages/client/node_modules/typescript/lib/typescript.js'

/**
 * How large the repository may be. A limit is what was reached last: lower it with what you leave out, and say why if
 * you raise it. `goal`: what somebody can take up as a whole; where the limit is above it, something is still to be
 * left out.
 */
const limits = {
  'lines of the product': { limit: 50_400, goal: 39_000 },
  'lines of tests and tools': { limit: 55_190, goal: 42_000 },
  'lines of packages/kafka': { limit: 4_750, goal: 4_200 },
  'patches of kafkajs': { limit: 7, goal: 6 },
  'words in documents': { limit: 50_000, goal: 50_000 },
}

const root = join(import.meta.dirname, '..')
const textOf = (file: string) => readFileSync(join(root, file), 'utf8')
const files = execFileSync('git', ['ls-files'], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter(
    file =>
      file !== '' &&
      !/package-lock|packages\/client\/openapi\.ts|test\/statements\.sql|fixtures\//.test(file),
  )
const linesOf = (chosen: string[]) =>
  chosen.reduce((sum, file) => sum + textOf(file).split('\n').length - 1, 0)

const isCode = (file: string) => /\.(ts|js|mjs|lua|css|sql|tpl|sh)$/.test(file)
/** What is there for tests alone. */
const isTest = (file: string) => /\.test\.|\/test\/|testing\.ts$|^test\/|^packages\/testkit\//.test(file)
const isProduct = (file: string) => isCode(file) && !isTest(file) && /^(packages|services|infra)\//.test(file)

const measured: Record<keyof typeof limits, number> = {
  'lines of the product': linesOf(files.filter(isProduct)),
  'lines of tests and tools': linesOf(
    files.filter(file => (isCode(file) || file.endsWith('.py')) && !isProduct(file)),
  ),
  'lines of packages/kafka': linesOf(
    files.filter(file => isProduct(file) && file.startsWith('packages/kafka/')),
  ),
  'patches of kafkajs': [
    ...textOf('packages/kafka/client/kafkajs.ts').matchAll(/^ {2}(patch\w+|replaceModule)\(/gm),
  ].length,
  'words in documents': files
    .filter(file => file.endsWith('.md'))
    .reduce((sum, file) => sum + (textOf(file).match(/\S+/g)?.length ?? 0), 0),
}

test.each(Object.entries(limits))('%s: at most %o', (name, { limit }) => {
  const value = measured[name as keyof typeof limits]
  console.log(`${name}: ${value.toLocaleString('en')}`)
  expect(value).toBeGreaterThan(0)
  expect(value).toBeLessThanOrEqual(limit)
})

test('no six lines of the product stand in two places', () => {
  const places = new Map<string, string>()
  const again: string[] = []
  for (const file of files.filter(isProduct)) {
    const lines = textOf(file)
      .split('\n')
      .map(line => line.trim())
    const said = lines.filter(line => /\w.*\w/.test(line) && !/^(import|export .* from|\*|\/[/*])/.test(line))
    for (let at = 0; at + 6 <= said.length; at += 1) {
      const six = said.slice(at, at + 6).join('\n')
      // Shorter ones are lists of names.
      if (six.length >= 100 && places.has(six)) again.push(`${places.get(six)} and ${file}:\n${six}`)
      places.set(six, file)
    }
  }
  expect(places.size).toBeGreaterThan(10_000)
  expect(again).toEqual([])
})

test('no file has more than three variables that inner functions assign', () => {
  const { FirstAssignment, LastAssignment, PlusPlusToken, MinusMinusToken } = ts.SyntaxKind
  const captured = new Set<string>()
  for (const file of files.filter(file => isProduct(file) && /\.(ts|m?js)$/.test(file))) {
    const [declared, assigned] = [new Map<ts.Node | undefined, Set<string>>(), [] as ts.Node[]]
    const visit = (node: ts.Node): void => {
      if (ts.isVariableDeclaration(node)) {
        const scope = ts.findAncestor(node, at => ts.isBlock(at) || ts.isSourceFile(at))
        declared.set(scope, (declared.get(scope) ?? new Set()).add(node.name.getText()))
      } else if (ts.isBinaryExpression(node)) {
        const { kind } = node.operatorToken
        if (kind >= FirstAssignment && kind <= LastAssignment) assigned.push(node.left)
      } else if (ts.isPrefixUnaryExpression(node) || ts.isPostfixUnaryExpression(node))
        if ([PlusPlusToken, MinusMinusToken].includes(node.operator)) assigned.push(node.operand)
      ts.forEachChild(node, visit)
    }
    visit(ts.createSourceFile(file, textOf(file), ts.ScriptTarget.Latest, true))
    for (const node of assigned) {
      const scope = ts.findAncestor(node, at => declared.get(at)?.has(node.getText()) === true)
      const [inner, outer] = [node, scope].map(at => ts.findAncestor(at, ts.isFunctionLike))
      if (scope !== undefined && inner !== outer) captured.add(`${file}: ${node.getText()} of ${scope.pos}`)
    }
  }
  const byFile = Object.groupBy(captured, one => one.replace(/:.*/, ''))
  expect(Object.values(byFile).filter(names => (names?.length ?? 0) > 3)).toEqual([])
  expect(captured.size).toBeGreaterThan(100)
})
