/** The question whether a call happened: what is known of it, and the three answers. None of them is the usual one. */
import { html } from './vendor/htm-preact.js';
import { moment } from './format.js';
import { known, t } from './i18n.js';

export function Known({ part, open }) {
  const { number, began, why, message } = part.attempt || {};
  return html`<p data-testid="outcome-known">${t('outcome.known', { n: number, at: moment(began), why: known(`outcome.why.${why}`, message) })}</p>
    ${open && html`<p class="confirm-lead">${t('outcome.body', { at: moment(part.deadline) })}</p>`}`;
}

export function Answers({ part, onDecide }) {
  return html`<p class="confirm-lead">${t('outcome.again')}</p><div class="confirm-buttons answers">
    ${part.answers.map((answer) => html`<button type="button" class="button" disabled=${Boolean(part.sending)}
      data-testid=${`outcome-${answer}`} onClick=${() => onDecide(answer)}>${t(part.sending === answer ? 'outcome.sending' : `outcome.${answer}`)}</button>`)}
  </div>`;
}
