import { main } from '../../test/model/main.ts'

process.exit(await main(process.argv.slice(2)))
