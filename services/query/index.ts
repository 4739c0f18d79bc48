export { startQuery } from './wire.ts'
