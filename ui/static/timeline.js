/**
 * Who took the time: one bar of shares, and the spans of the trace as a waterfall.
 *
 * @typedef {{spanId: string, parentId: string, module: string, kind: string, name: string, startedAt: string, durationMs: number,
 *   status: 'ok'|'error'|'open', error?: string, depth: number, attributes?: Record<string, string>}} Span
 * @typedef {{error?: Error, runs: string[], startedAt: string, durationMs: number, took: Record<string, number>, missing?: string[],
 *   spans: Span[]}} Trace
 */
import { html } from './vendor/htm-preact.js';
import { duration, why } from './format.js';
import { known, t } from './i18n.js';
import { shortId } from './orders.js';
import { runAddress } from './place.js';
import { toolLabel } from './toolcard.js';

const takers = ['model', 'mcp', 'agent', 'person', 'own'];
const ticks = [0, 0.5, 1];

/** @param {{run: object, trace: Trace|null}} props */
export function Timeline({ run, trace }) {
  return html`<section aria-labelledby="run-timeline" data-testid="timeline">
    <h2 id="run-timeline">${t('time.title')}</h2>
    ${!trace && html`<p class="state is-busy"><span class="spinner"></span>${t('time.loading')}</p>`}
    ${trace?.error && html`<p class="panel-empty" role="status" data-testid="timeline-none">
      ${trace.error.status === 404 ? t('time.none') : t('time.error', { why: why(trace.error) })}</p>`}
    ${trace && !trace.error && html`<${Missing} modules=${trace.missing || []} />
      <${Took} took=${trace.took || {}} />
      <${Waterfall} trace=${trace} />
      <${Others} ids=${(trace.runs || []).filter((id) => id !== run.id)} />`}
  </section>`;
}

function Missing({ modules }) {
  if (!modules.length) return null;
  return html`<p class="warnings" role="status" data-testid="timeline-missing">
    ${t('time.missing', { modules: modules.map(moduleLabel).join(t('list.and')) })}</p>`;
}

function moduleLabel(name) {
  return known(`module.${name}`, name);
}

/** Each moment of the run counts for one of them, so that the shares are of the whole. */
function Took({ took }) {
  const shares = takers.map((who) => ({ who, ms: took[`${who}Ms`] || 0 })).filter(({ ms }) => ms > 0);
  const sum = shares.reduce((all, { ms }) => all + ms, 0);
  if (!sum) return null;
  return html`<div class="took" data-testid="took">
    <div class="took-bar" aria-hidden="true">
      ${shares.map(({ who, ms }) => html`<span key=${who} class=${`by-${who}`} style=${{ flexGrow: ms / sum }}></span>`)}
    </div>
    <ul>${shares.map(({ who, ms }) => html`<li key=${who} data-testid=${`took-${who}`}>
      <span class=${`swatch by-${who}`} aria-hidden="true"></span>
      <span>${t(`time.by.${who}`)}</span>
      <strong>${duration(ms)}</strong> <span class="quiet">${percent(ms / sum)}</span>
    </li>`)}</ul>
  </div>`;
}

function percent(share) {
  return share > 0 && share < 0.01 ? '<1%' : `${Math.round(share * 100)}%`;
}

function Waterfall({ trace }) {
  const start = Date.parse(trace.startedAt);
  const whole = Math.max(trace.durationMs, 1);
  return html`<div class="waterfall" data-testid="waterfall">
    <div class="axis" aria-hidden="true"><span></span>
      <span class="axis-ticks">${ticks.map((share) => html`<${Tick} key=${share} share=${share} whole=${whole} />`)}</span><span></span>
    </div>
    <ol>${trace.spans.map((span) => html`<${Bar} key=${span.spanId} span=${span} offset=${Date.parse(span.startedAt) - start} whole=${whole} />`)}</ol>
  </div>`;
}

/** A time on the axis, above its line: the first to the right of it, the last to the left. */
function Tick({ share, whole }) {
  return html`<span style=${{ left: `${share * 100}%`, transform: `translateX(${share * -100}%)` }}>${share ? duration(whole * share) : '0'}</span>`;
}

/** One span; a bar that would be too thin to see is drawn two pixels wide (the style's). */
function Bar({ span, offset, whole }) {
  const left = clamp(offset / whole);
  const width = span.status === 'open' ? 1 - left : Math.min(clamp(span.durationMs / whole), 1 - left);
  return html`<li><details class="span" data-testid="span" data-kind=${span.kind} data-status=${span.status}>
    <summary>
      <span class="span-name" style=${{ '--depth': Math.min(span.depth, 8) }}>
        <span class=${`span-kind by-${takerOf(span)}`}>${known(`span.${span.kind}`, span.kind)}</span>
        <span class="span-title">${nameOf(span)}</span>
      </span>
      <span class="span-track" aria-hidden="true"><span class=${`span-bar by-${takerOf(span)} is-${span.status}`}
        style=${{ left: `${left * 100}%`, width: `${width * 100}%` }}></span></span>
      <span class="num span-took">${span.status === 'open' ? t('time.open') : duration(span.durationMs)}
        ${span.status === 'error' && html`<span class="tone-bad"> ${t('status.FAILED')}</span>`}</span>
    </summary>
    <dl class="facts">
      <dt>${t('time.module')}</dt><dd>${moduleLabel(span.module)}</dd>
      <dt>${t('time.offset')}</dt><dd>+${duration(Math.max(offset, 0))}</dd>
      <dt>${t('time.span')}</dt><dd><code>${span.name}</code> <code class="quiet">${span.spanId}</code></dd>
      ${span.error && html`<dt>${t('time.failure')}</dt><dd class="tone-bad">${span.error}</dd>`}
      ${Object.entries(span.attributes || {}).map(([name, value]) => html`<dt>${name}</dt><dd><code>${value}</code></dd>`)}
    </dl>
  </details></li>`;
}

/** Whose colour a span has: its time counts for them, as long as nothing below it is at work. */
function takerOf({ kind, attributes }) {
  if (kind === 'tool') return { MCP: 'mcp', A2A: 'agent' }[attributes?.['agentmesh.capability.kind']] || 'own';
  return { model: 'model', mcp: 'mcp', agent: 'agent', server: 'agent', person: 'person' }[kind] || 'own';
}

function nameOf({ name, attributes }) {
  const tool = attributes?.['gen_ai.tool.name'];
  return tool ? toolLabel(tool) : name;
}

function clamp(share) {
  return Math.min(Math.max(share, 0), 1) || 0;
}

/** Other runs of the same trace: one that was asked by another program may come back here. */
function Others({ ids }) {
  if (!ids.length) return null;
  return html`<p class="links">${t('time.others')} ${ids.map((id) => html`<a key=${id} href=${runAddress(id)}>${shortId(id)}</a>`)}</p>`;
}
