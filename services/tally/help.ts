import { type Command, Help } from 'commander'

const organization = '5b0f6c1e-7d34-4a52-9c0b-2f8e6a41d701'
const event = '7c1e0f4e-0a52-4b43-9c0c-0c2f6a6f1a11'
const [install, reference, operations] = ['docs/install.md', 'docs/reference.md', 'docs/operations.md']
const [records, runbook] = ['docs/records.md', 'docs/runbook.md']
const key = 'AbCdEf012345'

/** Lines to copy for each command, by its name, and the document that explains it. */
export const helpOf: Record<string, { docs: string; examples: string[] }> = {
  tally: { docs: reference, examples: ['tally doctor', 'tally keys create --help'] },
  migrate: { docs: operations, examples: ['tally migrate', 'tally migrate --contract'] },
  topics: { docs: install, examples: ['tally topics create'] },
  'topics create': {
    docs: install,
    examples: ['tally topics create', 'tally topics create --partitions 12 --replication-factor 3'],
  },
  projector: { docs: reference, examples: ['tally projector', 'OPS_PORT=9190 tally projector'] },
  query: { docs: reference, examples: ['tally query', 'QUERY_PORT=8180 OPS_PORT=9191 tally query'] },
  admin: { docs: reference, examples: ['tally admin', 'ADMIN_URL=https://area.example.org tally admin'] },
  feed: {
    docs: reference,
    examples: ['tally feed', 'tally feed --rate 0 --orders 600', 'tally feed --data evening.jsonl.gz'],
  },
  keys: { docs: reference, examples: [`tally keys list --organization ${organization}`] },
  'keys create': {
    docs: reference,
    examples: [
      `tally keys create --organization ${organization} --name 'Kitchen screen' --scope analytics:read --event ${event}`,
    ],
  },
  'keys list': { docs: reference, examples: [`tally keys list --organization ${organization} --json`] },
  'keys revoke': { docs: reference, examples: [`tally keys revoke ${key}`] },
  administrators: { docs: operations, examples: ['tally administrators list'] },
  'administrators create': {
    docs: operations,
    examples: [`tally administrators create --organization ${organization} --email anna@example.org --link`],
  },
  'administrators list': { docs: operations, examples: ['tally administrators list --json'] },
  'administrators reset': {
    docs: operations,
    examples: ['tally administrators reset --email anna@example.org --second-factor'],
  },
  'administrators remove': {
    docs: operations,
    examples: ['tally administrators remove --email anna@example.org'],
  },
  doctor: { docs: reference, examples: ['tally doctor', 'tally doctor --json'] },
  events: { docs: operations, examples: ['tally events list'] },
  'events list': { docs: operations, examples: [`tally events list --organization ${organization}`] },
  'events remove': {
    docs: operations,
    examples: [`tally events remove ${event}`, 'tally events remove --older-than 18mo --yes'],
  },
  'dead-letters': { docs: runbook, examples: ['tally dead-letters list --limit 20'] },
  'dead-letters list': { docs: runbook, examples: ['tally dead-letters list --limit 20'] },
  'dead-letters show': { docs: runbook, examples: ['tally dead-letters show tally.orders-3-1204'] },
  'dead-letters replay': {
    docs: runbook,
    examples: ['tally dead-letters replay tally.orders-3-1204', 'tally dead-letters replay --reason schema'],
  },
  offsets: { docs: runbook, examples: ['tally offsets'] },
  'offsets list': { docs: runbook, examples: ['tally offsets list --json'] },
  'offsets accept': { docs: runbook, examples: ['tally offsets accept tally.orders 3 --yes'] },
  'offsets skip': { docs: runbook, examples: ['tally offsets skip tally.orders 3 --to 4812 --yes'] },
  verify: { docs: reference, examples: ['tally verify'] },
  rebuild: { docs: reference, examples: ['tally rebuild', 'tally rebuild --from-kafka'] },
  contract: { docs: records, examples: ['tally contract openapi > openapi.json'] },
  'contract openapi': { docs: records, examples: ['tally contract openapi > openapi.json'] },
  'contract asyncapi': { docs: records, examples: ['TOPIC_PREFIX=sagra tally contract asyncapi'] },
  'contract schemas': { docs: records, examples: ['tally contract schemas orders'] },
  records: { docs: records, examples: ['tally records check orders.jsonl --type orders'] },
  'records check': {
    docs: records,
    examples: [
      'tally records check orders.jsonl --type orders',
      `tally records check --from-kafka --event ${event}`,
    ],
  },
}

const usual = new Help()

/** Marks the options without which a command does not run. */
export const markRequired: Partial<Help> = {
  optionDescription: option => `${usual.optionDescription(option)}${option.mandatory ? ' (required)' : ''}`,
}

/** Each command below and including this one, by its name: `keys create`; the program itself is `tally`. */
export const commandsOf = (command: Command, path = ''): [name: string, Command][] => [
  [path || command.name(), command],
  ...command.commands.flatMap(one => commandsOf(one, `${path} ${one.name()}`.trim())),
]

/** Adds to the help of each command lines to copy, and where its documentation is. */
export function addExamples(program: Command): void {
  for (const [name, command] of commandsOf(program)) {
    const help = helpOf[name]
    if (help === undefined) continue
    const examples = help.examples.map(example => `  ${example}`)
    command.addHelpText('after', ['', 'Examples:', ...examples, '', `Documentation: ${help.docs}`].join('\n'))
  }
}
