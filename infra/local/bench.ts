import { main } from '../../test/bench/main.ts'

process.exit(await main(process.argv.slice(2)))
