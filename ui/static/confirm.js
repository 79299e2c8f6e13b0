/** The question before an order: what will happen, what it costs, how long there is to decide. */
import { html, useEffect, useLayoutEffect, useRef, useState } from './vendor/htm-preact.js';
import { serverNow } from './api.js';
import { clock, countdown, money } from './format.js';
import { Icon } from './icons.js';
import { known, pick, t } from './i18n.js';
import { toolLabel } from './toolcard.js';

/** @param {{part: object, result?: string, live: boolean, onDecide: (decision: 'confirm'|'reject') => void}} props */
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

  const isOrder = Array.isArray(part.summary?.lines);
  const ids = { title: `${part.id}-title`, body: `${part.id}-body` };
  return html`<section class=${`confirm ${open ? 'is-open' : 'is-closed'}`} role=${open ? 'alertdialog' : 'group'} tabindex="-1"
      ref=${card} aria-labelledby=${ids.title} aria-describedby=${ids.body} aria-modal=${open ? 'false' : undefined}
      data-testid="confirm-card" data-status=${part.status} data-confirmation=${part.id}>
    <header>
      <h2 id=${ids.title}>${isOrder ? t('confirm.title') : t('confirm.titleTool', { tool: toolLabel(part.tool) })}</h2>
      ${open && html`<${TimeLeft} left=${left} />`}
    </header>
    <div id=${ids.body}>
      ${open && isOrder && html`<p class="confirm-lead">${t('confirm.body')}</p>`}
      ${isOrder ? html`<${Lines} summary=${part.summary} />` : html`<pre tabindex="0">${JSON.stringify(part.args, null, 2)}</pre>`}
      <${Warnings} warnings=${part.warnings} />
    </div>
    ${part.problem && html`<p class="confirm-problem" role="alert" data-testid="confirm-problem">${problemText(part)}</p>`}
    ${open
      ? html`<${Buttons} part=${part} isOrder=${isOrder} over=${left.ms <= 0} onDecide=${onDecide} />`
      : html`<${Decision} part=${part} result=${result} isOrder=${isOrder} />`}
  </section>`;
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

function Lines({ summary }) {
  return html`<table class="lines" data-testid="confirm-lines">
    <thead><tr>
      <th scope="col">${t('confirm.dish')}</th><th scope="col" class="num">${t('confirm.unit')}</th>
      <th scope="col" class="num">${t('confirm.quantity')}</th><th scope="col" class="num">${t('confirm.amount')}</th>
    </tr></thead>
    <tbody>${summary.lines.map((line) => html`<tr key=${line.dishId} data-testid="confirm-line">
      <td>${pick(line, 'name')}${line.note && html`<span class="line-note">${line.note}</span>`}</td>
      <td class="num">${money(line.unitFen)}</td><td class="num">${line.quantity}</td>
      <td class="num">${money(line.amountFen)}</td>
    </tr>`)}</tbody>
    <tfoot><tr>
      <th scope="row" colspan="3">${t('confirm.total')}</th>
      <td class="num" data-testid="confirm-total">${money(summary.totalFen)}</td>
    </tr></tfoot>
  </table>
  ${summary.note && html`<p class="confirm-note">${t('confirm.note')} · ${summary.note}</p>`}`;
}

function Warnings({ warnings }) {
  if (!warnings?.length) return null;
  return html`<ul class="warnings" data-testid="confirm-warnings">
    ${warnings.map((w) => html`<li key=${`${w.code}${w.dishId}`}><${Icon} name="warn" size="16" /><span>${pick(w, 'text')}</span></li>`)}
  </ul>`;
}

function Buttons({ part, isOrder, over, onDecide }) {
  if (over && !part.sending) return html`<p class="confirm-lead" role="status">${t('confirm.settling')}</p>`;
  const busy = Boolean(part.sending);
  return html`<div class="confirm-buttons">
    <button type="button" class="button" disabled=${busy} data-testid="confirm-reject" onClick=${() => onDecide('reject')}>
      ${part.sending === 'reject' ? t('confirm.sendingNo') : t('confirm.no')}
    </button>
    <button type="button" class="button is-primary" disabled=${busy} data-testid="confirm-accept" onClick=${() => onDecide('confirm')}>
      ${part.sending === 'confirm' ? t('confirm.sendingYes') : t(isOrder ? 'confirm.yes' : 'confirm.yesTool')}
    </button>
  </div>`;
}

/** What was decided, by whom and when, and what became of it. */
function Decision({ part, result, isOrder }) {
  const outcome = outcomeOf(result);
  const good = part.status === 'CONFIRMED' && !outcome.problem;
  return html`<p class=${`decision ${good ? 'is-good' : ''}`} data-testid="confirm-decision">
    <${Icon} name=${good ? 'check' : part.status === 'CONFIRMED' ? 'cross' : 'minus'} size="16" />
    <span><strong>${t(isOrder ? `confirm.${part.status}` : `confirm.tool.${part.status}`)}</strong>
      ${part.decidedBy && part.decidedBy !== 'system' && html`<span class="quiet"> · ${t('confirm.by', { who: part.decidedBy })}</span>`}
      ${part.decidedAt && html`<span class="quiet"> · <time datetime=${part.decidedAt}>${clock(part.decidedAt)}</time></span>`}
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
  return known(`confirm.${part.problem}`, t('error.unknown', { detail: part.problemDetail || '' }));
}
