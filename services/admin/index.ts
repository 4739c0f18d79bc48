export { beginSession, findSession } from './signIn/sessions.ts'
export { startAdmin } from './wire.ts'
