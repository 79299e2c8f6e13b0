/** A question: what will happen and what it costs, or whether it did; and how long there is to decide. */
import { html, useEffect, useLayoutEffect, useRef, useState } from './vendor/htm-preact.js';
import { serverNow } from './api.js';
import { countdown, day, moment } from './format.js';
import { Icon } from './icons.js';
import { known, pick, t } from './i18n.js';
import { Lines, argsOf, editOf, isValid } from './orderform.js';
import { Answers, Known } from './outcome.js';
import { toolLabel } from './toolcard.js';

/** @param {{part: object, result?: string, live: boolean, onDecide: (decision: string, args?: object) => void}} props */
export function ConfirmCard({ part, result, live, onDecide }) {
  const card = useRef(null);
  const open = part.status === 'OPEN';
  const left = useTimeLeft(part, open);
  useLayoutEffect(() => { // with the card itself: a key pressed at sight of it must not go elsewhere
    if (open && live) card.current?.focus({ preventScroll: false });
  }, []);
  useEffect(() => {
    if (!open && card.current?.contains(document.activeElement)) document.getElementById('message')?.focus();
  }, [open]);

  const [edit, setEdit] = useState(null);
  const summary = part.edited?.summary || part.summary; // what was decided about, or is asked
  const isOrder = Array.isArray(summary?.lines);
  const after = part.kind === 'outcome'; // it may have happened
  const fields = open && isOrder ? edit : null;
  const decide = (decision) => onDecide(decision, decision === 'confirm' && fields ? argsOf(summary, fields) : undefined);
  const ids = { title: `${part.id}-title`, body: `${part.id}-body` };
  return html`<section class=${`confirm ${open ? 'is-open' : 'is-closed'}`} role=${open ? 'alertdialog' : 'group'} tabindex="-1"
      ref=${card} aria-labelledby=${ids.title} aria-describedby=${ids.body} aria-modal=${open ? 'false' : undefined}
      data-testid="confirm-card" data-status=${part.status} data-confirmation=${part.id}>
    <header>
      <h2 id=${ids.title}>${titleOf(part, open, isOrder)}</h2>
      ${open && !after && html`<${TimeLeft} left=${left} />`}
    </header>
    <div id=${ids.body}>
      ${after && html`<${Known} part=${part} open=${open} />`}
      ${open && isOrder && html`<p class="confirm-lead">${t('confirm.body')}</p>`}
      ${isOrder && summary.date && html`<p class="confirm-date" data-testid="confirm-date">${t('orders.date', { day: day(summary.date) })}</p>`}
      ${isOrder ? html`<${Lines} summary=${summary} edit=${fields} id=${part.id} busy=${Boolean(part.sending)} onEdit=${setEdit} />` : html`<${Args} of=${part.edited?.args || part.args} />`}
      ${part.because && html`<p class="confirm-note" data-testid="confirm-because">${part.because}</p>`}
      <${Warnings} warnings=${part.warnings} />
      ${open && part.suggestions && html`<label class="confirm-field">${t('confirm.remember')}
        <select data-testid="confirm-remember" onChange=${(e) => { part.remember = e.currentTarget.value; }}>
          <option value="">${t('confirm.remember.no')}</option>
          ${part.suggestions.map(({ id }) => html`<option key=${id} value=${id}>${t(`confirm.remember.${id}`)}</option>`)}
        </select></label>`}
    </div>
    ${part.problem && html`<p class="confirm-problem" role="alert" data-testid="confirm-problem">${problemText(part)}</p>`}
    ${open && after
      ? html`<${Answers} part=${part} onDecide=${decide} />`
      : open
      ? html`<${Buttons} part=${part} isOrder=${isOrder} over=${left.ms <= 0} wrong=${Boolean(fields) && !isValid(fields)} onDecide=${decide}>
          ${isOrder && part.tool === 'place_order' && html`<button type="button" class="button" disabled=${Boolean(part.sending)}
            aria-pressed=${String(Boolean(edit))} data-testid="confirm-edit" onClick=${() => setEdit(edit ? null : editOf(summary))}>
            ${t(edit ? 'confirm.editUndo' : 'confirm.edit')}
          </button>`}
        <//>`
      : html`<${Decision} part=${part} result=${result} isOrder=${isOrder} after=${after} />`}
  </section>`;
}

/** A question only as long as it is one. */
function titleOf({ kind, tool }, open, isOrder) {
  const label = { tool: toolLabel(tool) };
  if (kind === 'outcome') return t('outcome.title', label);
  if (isOrder) return t(open ? 'confirm.title' : 'confirm.titleClosed');
  return open ? t('confirm.titleTool', label) : label.tool;
}

function useTimeLeft(part, open) {
  const deadline = Date.parse(part.deadline) || Date.parse(part.createdAt) + part.ttlSeconds * 1000;
  const total = deadline - (Date.parse(part.createdAt) || deadline - 300_000);
  const [, tick] = useState(0);
  useEffect(() => {
    if (!open) return undefined;
    const timer = setInterval(() => tick((n) => n + 1), 250);
    return () => clearInterval(timer);
  }, [open]);
  const ms = deadline - serverNow();
  return { ms, share: total > 0 ? Math.min(1, Math.max(0, ms / total)) : 0 };
}

function TimeLeft({ left }) {
  return html`<span class=${`countdown ${left.ms < 30_000 ? 'is-short' : ''}`} role="timer" aria-live="off"
      data-testid="confirm-countdown">
    <${Icon} name="clock" size="15" /><span class="sr-only">${t('confirm.left')} </span>${countdown(left.ms)}
    <span class="countdown-bar" aria-hidden="true"><span style=${{ transform: `scaleX(${left.share})` }}></span></span>
  </span>`;
}

function Warnings({ warnings }) {
  if (!warnings?.length) return null;
  return html`<ul class="warnings" data-testid="confirm-warnings">
    ${warnings.map((w) => html`<li key=${`${w.code}${w.dishId}`}><${Icon} name="warn" size="16" /><span>${pick(w, 'text')}</span></li>`)}
  </ul>`;
}

function Buttons({ part, isOrder, over, wrong, onDecide, children }) {
  if (over && !part.sending) return html`<p class="confirm-lead" role="status">${t('confirm.settling')}</p>`;
  const busy = Boolean(part.sending);
  return html`<div class="confirm-buttons">
    <button type="button" class="button" disabled=${busy} data-testid="confirm-reject" onClick=${() => onDecide('reject')}>
      ${part.sending === 'reject' ? t('confirm.sendingNo') : t('confirm.no')}
    </button>
    ${children}
    <button type="button" class="button is-primary" disabled=${busy || wrong} data-testid="confirm-accept" onClick=${() => onDecide('confirm')}>
      ${part.sending === 'confirm' ? t('confirm.sendingYes') : t(isOrder ? 'confirm.yes' : 'confirm.yesTool')}
    </button>
  </div>`;
}

/** The arguments, one a row. */
function Args({ of }) {
  return html`<dl class="facts" tabindex="0">${Object.entries(of || {}).map(([name, value]) => html`<dt>${name}</dt>
    <dd>${typeof value === 'string' ? value : JSON.stringify(value)}</dd>`)}</dl>`;
}

/** What was decided and when, and what became of it. */
function Decision({ part, result, isOrder, after }) {
  const outcome = part.replacedBy ? {} : outcomeOf(result); // the result is that of the question which took its place
  const good = part.status === 'CONFIRMED' && !outcome.problem;
  return html`<p class=${`decision ${good ? 'is-good' : ''}`} data-testid="confirm-decision">
    <${Icon} name=${good ? 'check' : part.status === 'CONFIRMED' ? 'cross' : 'minus'} size="16" />
    <span><strong>${after ? t(`outcome.${part.answer || part.status}.said`) : t(part.replacedBy ? 'confirm.REPLACED' : isOrder ? `confirm.${part.status}` : `confirm.tool.${part.status}`)}</strong>
      ${part.edited && html`<span class="quiet" data-testid="confirm-edited"> · ${t('confirm.edited')}</span>`}
      ${part.decidedAt && html`<span class="quiet"> · <time datetime=${part.decidedAt}>${moment(part.decidedAt)}</time></span>`}
      ${outcome.orderId && html`<span class="quiet"> · ${t('confirm.order', { id: outcome.orderId })}</span>`}
      ${part.status === 'CONFIRMED' && outcome.problem && html`<span> · ${t('confirm.notPlaced', { why: outcome.problem })}</span>`}
    </span>
  </p>`;
}

function outcomeOf(result) {
  try {
    const value = JSON.parse(result || '{}');
    const reason = value.status === 'DENIED' ? known(`reason.${value.reason}`, value.message || value.reason) : '';
    return { orderId: value.orderId, problem: value.error?.message || reason };
  } catch {
    return {};
  }
}

function problemText(part) {
  if (part.problem === 'network') return t('error.network');
  if (part.problem === 'refused') return t('confirm.refused', { why: part.problemDetail });
  return known(`${part.kind}.${part.problem}`, '') || known(`confirm.${part.problem}`, t('error.unknown', { detail: part.problemDetail || '' }));
}
