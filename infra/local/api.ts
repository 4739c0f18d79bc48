import { findBreaking } from '../../test/contract/breaking.ts'

process.exit(await findBreaking())
