import { main } from '../../test/chaos/run/main.ts'

process.exit(await main(process.argv.slice(2)))
