import { join } from 'node:path'
import { parseDocument } from 'yaml'
import { run } from '#infra/command.ts'

/** The chart's folder. */
export const chart = join(import.meta.dirname, '../../infra/kubernetes/tally')

/** The oldest Kubernetes that the chart takes: a helm that Go built knows of none. */
export const kubeVersion = ['--kube-version', '1.30.0']

export type Values = { [name: string]: Values | Values[] | string | string[] | number | number[] | boolean }

/** The parts of a Kubernetes object that the tests read. */
export type Manifest = {
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Record<string, string>; annotations?: Record<string, string> }
  spec: Record<string, unknown>
  stringData?: Record<string, string>
}

/** What `helm template` makes of values, a text for each document; throws with its complaint. */
export async function renderTexts(helm: string, values: Values): Promise<string[]> {
  const args = ['template', 'shop', chart, '--namespace', 'sales', ...kubeVersion, '--values', '-']
  const { stdout } = await run(helm, args, { input: JSON.stringify(values) })
  return stdout.split(/^---$/m)
}

/** The same as objects. */
export const render = async (helm: string, values: Values): Promise<Manifest[]> =>
  (await renderTexts(helm, values)).flatMap(manifestOf)

/** The object in a document; none if it is empty. Throws for text that is not YAML, and for a repeated key. */
export function manifestOf(text: string): Manifest[] {
  const document = parseDocument(text)
  for (const problem of [...document.errors, ...document.warnings]) throw problem
  return document.contents === null ? [] : [document.toJS() as Manifest]
}

export type Container = {
  name: string
  args: string[]
  env: { name: string; value?: string; valueFrom?: { secretKeyRef: SecretKey } }[]
  ports?: { name: string; containerPort: number }[]
  securityContext: Record<string, unknown>
}
type SecretKey = { name: string; key: string; optional?: boolean }
export type Pod = {
  metadata: { labels: Record<string, string> }
  spec: Record<string, unknown> & { containers: Container[] }
}

/** The pods that Deployments and Jobs make. */
export const podsOf = (manifests: Manifest[]): Pod[] =>
  manifests.flatMap(({ spec }) => (spec !== undefined && 'template' in spec ? [spec.template as Pod] : []))
