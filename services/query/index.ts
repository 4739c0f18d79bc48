export { buildApp } from './app.ts'
export { startQuery } from './wire.ts'
