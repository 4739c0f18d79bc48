import type { Administrator } from '@tally/access'
import type { Session } from '../signIn/sessions.ts'
import { copied } from '../views/copy.ts'
import { moment } from '../views/format.ts'
import { type Html, html } from '../views/html.ts'
import { csrfField } from '../views/layout.ts'

type PeopleShown = {
  people: Administrator[]
  session: Session
  /** As typed before. */
  email: string
  mistake: string | undefined
  allowsPasswords: boolean
  csrf: string
}

/** One's own account stays, and those of the platform team, which sees all organizations. */
export const mayRemove = (person: Administrator, { administratorId }: { administratorId: string }): boolean =>
  !person.isPlatform && person.administratorId !== administratorId

export function peopleView({ people, session, email, mistake, allowsPasswords, csrf }: PeopleShown): Html {
  const how = allowsPasswords
    ? 'You get a link to send them, with which they choose a password.'
    : 'They sign in through your identity provider with this address.'
  return html`<p class="crumb"><a href="/account">Account</a></p>
<h1>People</h1>
<p class="faint">All of them see the sales of ${session.organizationName}, and manage its API keys, screen links and people.</p>
<div class="card table"><table>
<caption class="hidden">People who may sign in</caption>
<thead><tr><th scope="col">E-mail</th><th scope="col">Second factor</th><th scope="col">Since</th><th scope="col"><span class="hidden">Remove</span></th></tr></thead>
<tbody>${people.map(person => personRow(person, session, csrf))}</tbody></table></div>
<section class="card form"><h2>Invite</h2>
<p class="faint">${how}</p>
<form method="post" action="/account/people">${csrfField(csrf)}
<label for="email">E-mail</label>
<input id="email" name="email" type="email" required maxlength="254" autocomplete="off" value="${email}">
${mistake === undefined ? '' : html`<p class="mistake" role="alert">${mistake}</p>`}
<div class="actions"><button class="primary">Invite</button></div>
</form></section>`
}

function personRow(person: Administrator, session: Session, csrf: string): Html {
  const { administratorId, email, isPlatform, hasSecondFactor, createdAt } = person
  const isOwn = administratorId === session.administratorId
  return html`<tr>
<td data-label="E-mail">${email}${isOwn ? html` <span class="badge good">you</span>` : ''}${isPlatform ? html` <span class="badge">platform team</span>` : ''}</td>
<td data-label="2nd factor">${hasSecondFactor ? 'yes' : 'no'}</td>
<td data-label="Since">${moment(createdAt)}</td>
<td>${
    mayRemove(person, session)
      ? html`<details><summary class="button danger" aria-label="Remove ${email}">Remove</summary>
<form method="post" action="/account/people/${administratorId}/remove">${csrfField(csrf)}<p>They are signed out at once.</p><button class="danger">Yes, remove</button></form></details>`
      : ''
  }</td></tr>`
}

/** The link of an invitation, which is shown only here. */
export const invitedView = (
  email: string,
  link: string,
): Html => html`<p class="crumb"><a href="/account/people">People</a></p>
<h1>${email}</h1>
<section class="card token" data-page="/account/people">
<p class="warning" role="alert"><strong>Send this link to them.</strong> It works once, for 30 minutes, and will not be shown again. If it ends unused, remove and invite them again.</p>
${copied('Link', link)}
<p class="hidden" role="status" id="copied"></p>
<p><a class="button primary" href="/account/people">Done</a></p>
</section>`
