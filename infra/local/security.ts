import { main } from '../../test/security/main.ts'

process.exit(await main(process.argv.slice(2)))
