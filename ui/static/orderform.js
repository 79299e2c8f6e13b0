/** The lines of an order on its card, as text, or with fields in which the person changes portions and note. */
import { html, useEffect, useRef } from './vendor/htm-preact.js';
import { money } from './format.js';
import { pick, t } from './i18n.js';

/** Portions of one line; the server has the last word. */
const MOST = 20;
const NOTE_LENGTH = 200;

/** What is in the fields at first. @param {{lines: object[], note?: string}} summary */
export function editOf(summary) {
  return { portions: summary.lines.map((line) => String(line.quantity)), note: summary.note || '' };
}

function portionsOf(text) {
  const n = /^\d{1,2}$/.test(text) ? Number(text) : 0;
  return n >= 1 && n <= MOST ? n : 0;
}

/** Whether all fields hold what can be ordered. */
export function isValid(edit) {
  return edit.portions.every((text) => portionsOf(text) > 0);
}

/** The arguments as a whole, or nothing where the person changed nothing. */
export function argsOf(summary, edit) {
  const same = edit.note.trim() === (summary.note || '') && summary.lines.every((line, i) => portionsOf(edit.portions[i]) === line.quantity);
  if (same) return undefined;
  const items = summary.lines.map((line, i) => ({ dish: line.dishId, quantity: portionsOf(edit.portions[i]), ...(line.note && { note: line.note }) }));
  return { items, ...(edit.note.trim() && { note: edit.note.trim() }) };
}

/** A line in a few words: 水煮牛肉 × 2. */
export function dishOf(line) {
  return `${pick(line, 'name')} × ${line.quantity}`;
}

/** @param {{summary: object, edit?: object, id: string, busy?: boolean, onEdit?: (edit: object) => void}} props */
export function Lines({ summary, edit, id, busy, onEdit }) {
  const table = useRef(null);
  useEffect(() => {
    if (edit) table.current?.querySelector('input')?.select();
  }, [Boolean(edit)]);
  const amounts = summary.lines.map((line, i) => (edit ? line.unitFen * portionsOf(edit.portions[i]) : line.amountFen));
  const total = edit ? amounts.reduce((sum, fen) => sum + fen, 0) : summary.totalFen;
  const setPortions = (at, text) => onEdit({ ...edit, portions: edit.portions.map((old, i) => (i === at ? text : old)) });
  return html`<table class="lines" data-testid="confirm-lines" ref=${table}>
    <thead><tr>
      <th scope="col">${t('confirm.dish')}</th><th scope="col" class="num">${t('confirm.unit')}</th>
      <th scope="col" class="num">${t('confirm.quantity')}</th><th scope="col" class="num">${t('confirm.amount')}</th>
    </tr></thead>
    <tbody>${summary.lines.map((line, i) => html`<tr key=${line.dishId} data-testid="confirm-line">
      <td>${pick(line, 'name')}${line.note && html`<span class="line-note">${line.note}</span>`}</td>
      <td class="num">${money(line.unitFen)}</td>
      <td class="num">${edit
        ? html`<${Portions} text=${edit.portions[i]} dish=${pick(line, 'name')} id=${id} busy=${busy} onText=${(text) => setPortions(i, text)} />`
        : line.quantity}</td>
      <td class="num">${money(amounts[i])}</td>
    </tr>`)}</tbody>
    <tfoot><tr>
      <th scope="row" colspan="3">${t('confirm.total')}</th>
      <td class="num" data-testid="confirm-total" aria-live=${edit ? 'polite' : undefined}>${money(total)}</td>
    </tr></tfoot>
  </table>
  ${edit && html`<p id=${`${id}-range`} class="confirm-range ${isValid(edit) ? '' : 'is-wrong'}">${t('confirm.range', { most: MOST })}</p>
    <label class="confirm-field"><span>${t('confirm.note')}</span>
      <input type="text" maxlength=${NOTE_LENGTH} value=${edit.note} disabled=${busy} data-testid="confirm-edit-note"
        onInput=${(e) => onEdit({ ...edit, note: e.currentTarget.value })} />
    </label>`}
  ${!edit && summary.note && html`<p class="confirm-note">${t('confirm.note')} · ${summary.note}</p>`}`;
}

function Portions({ text, dish, id, busy, onText }) {
  return html`<input class="portions" type="number" inputmode="numeric" min="1" max=${MOST} step="1" value=${text} disabled=${busy}
    aria-label=${t('confirm.portionsOf', { dish })} aria-describedby=${`${id}-range`} aria-invalid=${portionsOf(text) ? undefined : 'true'}
    data-testid="confirm-portions" onInput=${(e) => onText(e.currentTarget.value)} />`;
}
