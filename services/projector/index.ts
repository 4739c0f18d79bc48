export { startProjector } from './wire.ts'
