import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { goModule, goProgram, helm as helmProgram } from '#infra/install/goPrograms.ts'
import { apply, createDefinitions, createNamespace, deleteNamespace, kedaModule } from './cluster.ts'
import { combinations, samples } from './combinations.ts'
import { type Manifest, manifestOf, render, renderTexts } from './render.ts'

const log = (line: string) => void process.stderr.write(`${line}\n`)
const namespace = `tally-manifests-${process.pid}`
let helm: string
let removeDefinitions = async () => {}

beforeAll(async () => {
  helm = await goProgram(helmProgram, log)
  await createNamespace(namespace, 'restricted')
  removeDefinitions = await createDefinitions(log)
})
afterAll(async () => {
  await deleteNamespace(namespace)
  await removeDefinitions()
})

test('the API server accepts every object of every combination of values, without a warning', async () => {
  const all = combinations()
  const texts = await distinctTexts(all)
  const manifests = [...texts].flatMap(manifestOf)
  log(`${all.length} combinations render ${manifests.length} distinct objects`)
  const { output } = await apply(manifests, '--dry-run=server', '--namespace', namespace)
  const lines = output.trimEnd().split('\n')
  expect(lines.filter(line => !line.endsWith(' serverside-applied (server dry run)'))).toEqual([])
  expect(lines.length).toBe(manifests.length)
})

/** What all these values render, each text once; the order of documents does not matter. */
async function distinctTexts(all: Parameters<typeof renderTexts>[1][]): Promise<Set<string>> {
  const texts = new Set<string>()
  const queue = all.values()
  const work = async () => {
    for (const values of queue) for (const text of await renderTexts(helm, values)) texts.add(text)
  }
  await Promise.all(Array.from({ length: availableParallelism() }, work))
  return texts
}

test("KEDA knows every parameter of the triggers, which the API server doesn't check", async () => {
  const source = await goModule(kedaModule)
  const known = (scaler: string) =>
    [
      ...readFileSync(join(source, `pkg/scalers/${scaler}_scaler.go`), 'utf8').matchAll(/keda:"name=(\w+)/g),
    ].map(([, name]) => name)
  const seen = new Set<string>()
  for (const [, values] of samples) {
    for (const { type, metadata } of (await render(helm, values)).flatMap(triggersOf)) {
      seen.add(type)
      expect({ [type]: Object.keys(metadata).filter(name => !known(type).includes(name)) }).toEqual({
        [type]: [],
      })
    }
  }
  expect([...seen].sort()).toEqual(['kafka', 'prometheus'])
})

type Trigger = { type: string; metadata: Record<string, string> }
const triggersOf = ({ kind, spec }: Manifest): Trigger[] =>
  kind === 'ScaledObject' ? (spec.triggers as Trigger[]) : []
