import { globSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import previous from './deploys/previousVersion.json' with { type: 'json' }

const root = new URL('../', import.meta.url)
const textOf = (path: string) => readFileSync(new URL(path, root), 'utf8')
const { version } = JSON.parse(textOf('package.json'))

test('all packages have one version, and need each other in that version', () => {
  const manifests = globSync('{packages,services}/*/package.json', { cwd: root }).map(path =>
    JSON.parse(textOf(path)),
  )
  const needs = manifests.flatMap(({ dependencies, devDependencies }) =>
    Object.entries({ ...dependencies, ...devDependencies }).filter(([name]) => name.startsWith('@tally/')),
  )
  expect(manifests.length).toBeGreaterThan(10)
  expect(new Set([...manifests.map(manifest => manifest.version), ...needs.map(([, of]) => of)])).toEqual(
    new Set([version]),
  )
})

test('the changelog begins with this version, and upgrades are tested from the one after it', () => {
  const versions = [...textOf('CHANGELOG.md').matchAll(/^## \[(\d+\.\d+\.\d+)\]/gm)].map(([, one]) => one)
  expect(versions.slice(0, 2)).toEqual([version, previous.version])
})
