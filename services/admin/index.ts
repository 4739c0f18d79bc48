export { buildAdmin } from './app.ts'
export { startAdmin } from './wire.ts'
