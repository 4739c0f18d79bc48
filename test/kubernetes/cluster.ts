import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Finished, run, tryRun } from '#infra/command.ts'
import { goModule } from '#infra/install/goPrograms.ts'

/** A Kubernetes object, or as much of it as is to be changed. */
export type Manifest = Record<string, unknown>

/** Runs kubectl on the cluster that KUBECONFIG names; throws with the end of its output if it fails. */
export function kubectl(args: string[], input = ''): Promise<Finished> {
  if (!process.env.KUBECONFIG)
    throw new Error(
      'npm run test:kubernetes needs KUBECONFIG: the file of a cluster that it may try things in',
    )
  return run('kubectl', args, { input })
}

/** The result as JSON. */
export const kubectlJson = async (...args: string[]) =>
  JSON.parse((await kubectl([...args, '--output', 'json'])).stdout)

export const apply = (manifests: Manifest[], ...args: string[]): Promise<Finished> =>
  kubectl(
    ['apply', '--server-side', '--filename', '-', ...args],
    JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests }),
  )

/** Creates a namespace for the tests; `level`: of the Pod Security standards, which the API server enforces. */
export async function createNamespace(name: string, level: 'restricted' | 'baseline'): Promise<void> {
  const modes = ['enforce', 'warn'].map(mode => [`pod-security.kubernetes.io/${mode}`, level])
  const labels = Object.fromEntries(modes)
  await apply([{ apiVersion: 'v1', kind: 'Namespace', metadata: { name, labels } }])
}

/** Deletes it with all that is in it, and returns when it is gone. */
export const deleteNamespace = (name: string): Promise<Finished> =>
  kubectl(['delete', 'namespace', name, '--ignore-not-found', '--timeout=300s'])

export const kedaModule = 'github.com/kedacore/keda/v2@v2.21.0'
const operatorModule = 'github.com/prometheus-operator/prometheus-operator@v0.85.0'

/** Creates the definitions of KEDA and the Prometheus operator that the cluster lacks; returns what removes them. */
export async function createDefinitions(log: (line: string) => void): Promise<() => Promise<void>> {
  const folders = [
    join(await goModule(kedaModule), 'config/crd/bases'),
    join(await goModule(operatorModule), 'example/prometheus-operator-crd'),
  ]
  const wanted = /_(scaledobjects|triggerauthentications|servicemonitors|prometheusrules)\.yaml$/
  const created: string[] = []
  for (const folder of folders) {
    for (const file of readdirSync(folder).filter(name => wanted.test(name))) {
      const [group, plural] = file.replace('.yaml', '').split('_')
      const name = `${plural}.${group}`
      if ((await tryRun('kubectl', ['get', 'crd', name])) !== undefined) continue
      log(`the cluster has no ${name}: creating it for the tests`)
      await kubectl(['apply', '--server-side', '--filename', join(folder, file)])
      created.push(name)
    }
  }
  if (created.length > 0)
    await kubectl(['wait', '--for=condition=Established', '--timeout=60s', 'crd', ...created])
  return async () => {
    if (created.length > 0) await kubectl(['delete', 'crd', ...created])
  }
}
