// Checks the licences in an SBOM of CycloneDX on stdin: each shipped package must have one of these.
import { text } from 'node:stream/consumers'

const allowed = new Set(['0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'ISC', 'MIT'])
const { components } = JSON.parse(await text(process.stdin))
const bought = components.filter(({ purl }) => !purl.startsWith('pkg:npm/%40tally/'))
const licencesOf = ({ licenses = [] }) =>
  licenses.map(({ license, expression }) => license?.id ?? license?.name ?? expression)
const isAllowed = licence =>
  String(licence)
    .replace(/[()]/g, '')
    .split(' OR ')
    .some(one => one.split(' AND ').every(part => allowed.has(part)))
const refused = bought.filter(one => !licencesOf(one).some(isAllowed))
for (const one of refused)
  console.error(
    `${one.name}@${one.version}: ${licencesOf(one).join(', ') || 'no licence'} is not allowed (.ci/licences.mjs)`,
  )
console.log(`licences: ${bought.length} shipped packages, ${refused.length} refused`)
process.exitCode = refused.length === 0 && bought.length > 0 ? 0 : 1
