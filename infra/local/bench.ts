import { main } from '../../test/bench/run/main.ts'

process.exit(await main(process.argv.slice(2)))
