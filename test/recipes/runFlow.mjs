// node runFlow.mjs FOLDER USER_DIR: runs USER_DIR/flows.json on Node-RED's own runtime, which is installed in FOLDER,
// as the program `node-red` does it, but without the editor. Ends on SIGTERM.
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'

const [folder = '', userDir = ''] = process.argv.slice(2)
const nodeRed = createRequire(join(folder, 'package.json'))
const util = nodeRed('@node-red/util')
const runtime = nodeRed('@node-red/runtime')

const settings = {
  userDir,
  flowFile: 'flows.json',
  coreNodesDir: dirname(nodeRed.resolve('@node-red/nodes')),
  httpAdminRoot: false,
  httpNodeRoot: false,
  credentialSecret: false,
  // Its default is 15 s.
  mqttReconnectTime: 200,
  logging: { console: { level: 'info' } },
}
util.init(settings)
runtime.init(settings)
process.on('SIGTERM', () => runtime.stop().then(() => process.exit()))
await runtime.start()
