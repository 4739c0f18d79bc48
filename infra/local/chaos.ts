import { main } from '../../test/chaos/main.ts'

process.exit(await main(process.argv.slice(2)))
