import type { HeldBack } from '@tally/kafka'
import { type AuditEntry, nameOfAction } from '../audit/store.ts'
import { counted, type Format, moment, span } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { hourView, type Sample } from './lastHour.ts'
import type { ServerPart, Versions } from './parts.ts'
import type { Shard, StalledPartition, Stored } from './read.ts'
import type { DeadLettersPage } from './replay.ts'

export type OperationsShown = {
  parts: ServerPart[]
  shards: Shard[]
  samples: readonly Sample[]
  /** Undefined if Kafka or Postgres does not answer. */
  deadLetters: DeadLettersPage | undefined
  heldBack: HeldBack[]
  /** Undefined if Postgres does not answer. */
  stored: Stored | undefined
  versions: Versions
}

/** Figures older than this are behind: they are at most 2 s old while the projector keeps up (docs/api.md, asOf). */
const behindMs = 5_000

export function operationsView(
  { parts, shards, samples, deadLetters, heldBack, stored, versions }: OperationsShown,
  { format, refreshes }: { format: Format; refreshes: boolean },
): Html {
  const { stalled = [], commands = [] } = stored ?? {}
  return html`<h1>Operations</h1>
<p class="faint">For the platform team. Covers all organizations. <a href="/operations/runbook">Runbook</a><span id="refreshed" class="block"></span></p>
<div id="operations"${refreshes ? html` data-refreshes` : ''}>
<p>${parts.map(part => partView(part, stored !== undefined))}</p>
${stored === undefined ? postgresSilent : ''}
${stalled.length === 0 ? '' : stalledView(stalled)}
${heldBack.length === 0 ? '' : heldBackView(heldBack)}
${hourView(samples, format)}
<section class="card"><h2>Shards</h2>
<p class="faint">Shard 0 is partition 0 of the topics of events, orders and refunds, and so on. Each shard is counted by one projector at a time.</p>
${shards.length === 0 ? html`<p class="faint">${stored === undefined ? 'Not available right now.' : 'No projector has run yet.'}</p>` : shardTable(shards, format)}</section>
<section class="card"><h2>Dead letters</h2>${deadLetters === undefined ? deadLettersUnknown : deadLettersView(deadLetters, format)}</section>
<div class="panels">
<section class="card"><h2>Last rebuild</h2>${stored === undefined ? html`<p>Not available right now: Postgres does not answer.</p>` : rebuildLine(stored)}</section>
<section class="card"><h2>Versions</h2><dl class="facts">${versions.map(({ name, version }) => html`<dt>${name}</dt><dd><code>${version}</code></dd>`)}</dl></section>
</div>
${commands.length === 0 ? '' : commandsView(commands)}
</div>`
}

/** A server that is too slow may tell its version and nothing else: that is not an answer. */
function partView({ name, about }: ServerPart, hasStored: boolean): Html {
  const isThere = about !== undefined && (name !== 'Postgres' || hasStored)
  return html`<span class="badge ${isThere ? 'good' : 'revoked'}">● ${name} ${isThere ? about : 'does not answer'}</span> `
}

/** Stalled partitions are not shown then, and no part of the page may look as if there were none. */
const postgresSilent = html`<p class="notice">Postgres does not answer: lag, stalled partitions, dead letters and the last rebuild are not shown. The API answers item counts and figures from Redis.</p>`

function stalledView(stalled: StalledPartition[]): Html {
  return html`<section class="card"><h2>Stalled partitions</h2>
${stalled.map(
  ({ topic, partition, state, sinceMs, message }) => html`<p><span class="badge revoked">${state}</span>
<code>${topic}-${partition}</code> since ${moment(sinceMs)}<span class="block">${message}</span></p>`,
)}</section>`
}

function heldBackView(heldBack: HeldBack[]): Html {
  return html`<section class="card"><h2>Open transactions</h2>
<p class="faint">Records behind them are not counted before they end. End the producer. If it is gone, the command gives up its transaction.</p>
${heldBack.map(({ found, command }) => html`<p>${found}<span class="block"><code>${command}</code></span></p>`)}</section>`
}

const commandsView = (commands: AuditEntry[]): Html =>
  html`<section class="card"><h2>Latest commands</h2>
${commands.map(commandView)}</section>`

const commandView = ({ at, email, action, subject, detail, address }: AuditEntry): Html =>
  html`<p>${moment(at)} ${nameOfAction(action)} <code>${subject}</code>
<span class="faint block">${detail} (${email}, ${address})</span></p>`

function shardTable(shards: Shard[], { whole }: Format): Html {
  const now = Date.now()
  return html`<table>
<caption class="hidden">Lag and freshness by shard</caption>
<thead><tr><th scope="col">Shard</th><th scope="col">Lag (records)</th><th scope="col">Age of the figures</th><th scope="col">State</th></tr></thead>
<tbody>${shards.map(({ shard, lag, asOfMs }) => {
    const isBehind = asOfMs === null || now - asOfMs > behindMs
    return html`<tr><th scope="row" data-label="Shard">${shard}</th>
<td data-label="Lag" class="number">${lag === null ? 'unknown' : whole(lag)}</td>
<td data-label="Age" class="number">${asOfMs === null ? 'unknown' : span(now - asOfMs)}</td>
<td data-label="State"><span class="badge ${isBehind ? 'revoked' : 'good'}">${isBehind ? 'behind' : 'up to date'}</span></td></tr>`
  })}</tbody></table>`
}

const deadLettersUnknown = html`<p>Not available right now: Kafka or Postgres does not answer.</p>`

function deadLettersView(
  { byReason, shown, isNewest, isWhole, older }: DeadLettersPage,
  { whole }: Format,
): Html {
  const all = [...byReason.values()].reduce((sum, count) => sum + count, 0)
  const next =
    older === undefined ? '' : html`<p><a href="/operations?before=${older}">Older dead letters</a></p>`
  if (all === 0 && isNewest && isWhole)
    return html`<p class="faint">No dead letters are waiting. Every record was accepted or has been replayed.</p>`
  if (all === 0) return html`<p class="faint">All dead letters on this page have been replayed.</p>${next}`
  return html`<p><strong>${isWhole ? '' : 'At least '}${counted(all, isNewest ? 'record' : 'older record', whole)}</strong> ${all === 1 ? 'was' : 'were'} rejected:
${[...byReason].map(([reason, count]) => html`<span class="scope">${reason}</span> ${whole(count)} `)}</p>
<form method="post" action="/operations/replay">
<table>
<caption>${shown.length < all ? `The latest ${shown.length}${isNewest ? '' : ' of them'}` : 'All of them, the latest first'}</caption>
<thead><tr><th scope="col"><span class="hidden">Replay</span></th><th scope="col">Record</th><th scope="col">Reason</th><th scope="col">Problem</th><th scope="col">When</th></tr></thead>
<tbody>${shown.map(deadLetterRow)}</tbody></table>
<div class="actions"><button class="primary">Replay selected</button><button name="all" value="yes">Replay all</button></div>
<p class="faint">A replay sends the record to its topic once more. Replay it after the cause is fixed.</p></form>${next}`
}

const deadLetterRow = ({ id, reason, message, atMs }: DeadLettersPage['shown'][number]): Html =>
  html`<tr><td><input type="checkbox" name="id" value="${id}" aria-label="Replay ${id}"></td>
<th scope="row" data-label="Record"><code>${id}</code></th><td data-label="Reason">${reason}</td><td data-label="Problem">${message}</td><td data-label="When">${moment(atMs)}</td></tr>`

function rebuildLine({ rebuild, commands }: Stored): Html {
  if (rebuild === undefined) return html`<p class="faint">No rebuild has run.</p>`
  const { startedAt, finishedAt } = rebuild
  const latest = commands.find(({ action }) => action.startsWith('rebuild-'))
  // A later one was refused while this one runs.
  const isItsOwn = commands.every(({ action, at }) => action !== 'rebuild-begun' || at <= startedAt)
  if (finishedAt === null && isItsOwn && latest?.action === 'rebuild-failed')
    return html`<p>Started ${moment(startedAt)}, <strong>failed</strong>: the command has said why.</p>`
  return finishedAt === null
    ? html`<p>Started ${moment(startedAt)}, <strong>not finished</strong>: it is running, or was interrupted and continues if you run the same command again.</p>`
    : html`<p>Finished ${moment(finishedAt)}, in ${span(finishedAt - startedAt)}.</p>`
}
