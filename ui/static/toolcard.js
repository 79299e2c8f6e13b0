/** A tool call as a row that opens: what was asked, of whom, what came back, how long it took. */
import { html } from './vendor/htm-preact.js';
import { Icon } from './icons.js';
import { known, t } from './i18n.js';
import { dishOf } from './orderform.js';
import { duration } from './format.js';
import { isRunning, isSaid } from './turn.js';

const MOST = 12_000;

export function toolLabel(name) {
  return known(`tool.${name}`, name || '…');
}

/** @param {{part: import('./turn.js').ToolPart, tools: Map<string, object>}} props */
export function ToolCard({ part, tools, onStop }) {
  const said = isSaid(part.result);
  const look = said && part.status !== 'SUCCEEDED' ? 'DENIED' : part.status;
  const took = !said && part.durationMs >= 0 ? duration(part.durationMs) : '';
  const word = t(said ? 'status.said' : `status.${part.status}`);
  const kind = part.kind || tools.get(part.name)?.kind || '';
  return html`<details class="tool" data-testid="tool-card" data-tool=${part.name} data-status=${part.status}>
    <summary>
      <span class=${`mark mark-${tone(look)}`}><${Mark} status=${look} /></span>
      <span class="tool-title">
        <span class="tool-name">${toolLabel(part.name)}</span>
        <span class="tool-hint">${ordered(part) || preview(part.args)}</span>
      </span>
      ${kind && html`<span class=${`badge badge-${kind.toLowerCase()}`} data-testid="tool-kind">${kind}</span>`}
      <span class=${`tool-status tone-${tone(look)}`} data-testid="tool-status">
        ${part.status === 'SUCCEEDED' && took || word}
      </span>
      <span class="tool-chevron"><${Icon} name="chevron" size="14" /></span>
    </summary>
    <div class="tool-body">
      <div class="tool-meta">
        <code>${part.name}</code>
        <span>${word}${took && ` · ${took}`}</span>
      </div>
      <p class="tool-label">${t('card.arguments')}</p>
      <pre tabindex="0" data-testid="tool-arguments">${pretty(part.args) || t('card.none')}</pre>
      ${part.result !== undefined && html`<p class="tool-label">${t('card.result')}</p>
        <pre tabindex="0" data-testid="tool-result">${pretty(part.result) || t('card.none')}</pre>`}
    </div>
  </details>
  ${part.status === 'OFFLOADED' && html`<p class="tool-stop"><button type="button" class="button is-small" disabled=${Boolean(part.stopping)}
    data-testid="task-stop" onClick=${() => onStop(part)}>${t('composer.stop')}</button></p>`}`;
}

export function Mark({ status }) {
  if (status === 'RUNNING' || status === 'OFFLOADED') return html`<span class="spinner"></span>`;
  const name = { SUCCEEDED: 'check', WAITING: 'clock', CANCELLED: 'minus', DENIED: 'minus', REFUSED: 'minus' }[status] || 'cross';
  return html`<${Icon} name=${name} size="15" />`;
}

export function tone(status) {
  if (status === 'OFFLOADED' || isRunning({ status })) return 'busy';
  if (status === 'SUCCEEDED') return 'good';
  return status === 'CANCELLED' || status === 'DENIED' ? 'calm' : 'bad';
}

export function pretty(text) {
  if (!text) return '';
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch { /* not JSON, or not all of it yet */ }
  if (shown === '{}') return '';
  return shown.length > MOST ? `${shown.slice(0, MOST)}\n${t('card.cut')}` : shown;
}

/** What is ordered, in the reader's language: as the result says, before there is one as the question did. */
function ordered({ result, lines }) {
  let placed;
  try {
    placed = JSON.parse(result || '{}').lines;
  } catch { /* not JSON: no order */ }
  const all = [placed, lines].find((some) => Array.isArray(some) && some[0]?.dishId);
  return all?.map(dishOf).join(' · ');
}

const dull = new Set(['limit', 'kind']);

/** The arguments in a few words: 上海 · days 3. */
function preview(args) {
  let value;
  try {
    value = JSON.parse(args || '{}');
  } catch {
    return '';
  }
  return words(value).join(' · ').slice(0, 80);
}

function words(value) {
  if (value === null || typeof value === 'boolean') return [];
  if (typeof value !== 'object') return [String(value)];
  if (typeof value.dish === 'string') return [`${value.dish} × ${value.quantity ?? 1}`];
  return Object.entries(value).filter(([key]) => !dull.has(key))
    .flatMap(([key, one]) => (typeof one === 'number' && !Array.isArray(value) ? [`${key} ${one}`] : words(one)));
}
