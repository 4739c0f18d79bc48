// Sets the version of all packages of this repository, of what they need of each other, and of the Helm chart:
// node .ci/setVersion.mjs 1.2.3
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const [version = ''] = process.argv.slice(2)
if (!/^\d+\.\d+\.\d+$/.test(version)) {
  console.error('usage: node .ci/setVersion.mjs MAJOR.MINOR.PATCH')
  process.exit(2)
}
const root = fileURLToPath(new URL('..', import.meta.url))
// Without globSync, which Node 20 does not have.
const folders = ['packages', 'services'].flatMap(of => readdirSync(root + of).map(name => `${of}/${name}`))
const manifests = ['package.json', ...folders.map(folder => `${folder}/package.json`)].filter(path =>
  existsSync(root + path),
)

edit('package-lock.json', lock => {
  lock.version = version
  for (const path of manifests) setVersion(lock.packages[path.replace(/\/?package\.json$/, '')])
})
for (const path of manifests) edit(path, setVersion)
const chart = `${root}infra/kubernetes/tally/Chart.yaml`
writeFileSync(chart, readFileSync(chart, 'utf8').replace(/^(version|appVersion): .*/gm, `$1: ${version}`))

function setVersion(manifest) {
  manifest.version = version
  for (const kind of ['dependencies', 'devDependencies', 'peerDependencies', 'optionalDependencies'])
    for (const name of Object.keys(manifest[kind] ?? {}))
      if (name.startsWith('@tally/')) manifest[kind][name] = version
}

function edit(path, change) {
  const content = JSON.parse(readFileSync(root + path, 'utf8'))
  change(content)
  writeFileSync(root + path, `${JSON.stringify(content, null, 2)}\n`)
}
