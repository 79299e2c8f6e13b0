/** The audit: every call, where it came from and how it ended, with filters that the address keeps. */
import { html } from './vendor/htm-preact.js';
import { duration, moment, why } from './format.js';
import { known, t } from './i18n.js';
import { Icon } from './icons.js';
import { More, usePages } from './lists.js';
import { shortId } from './orders.js';
import { auditAddress, queryOf, runAddress, threadAddress } from './place.js';
import { Mark, pretty, tone, toolLabel } from './toolcard.js';

const statuses = ['SUCCESS', 'FAILED', 'DENIED', 'INVALID', 'TIMED_OUT', 'CANCELLED', 'REFUSED', 'INDETERMINATE'];
const stages = ['resolve', 'validate', 'policy', 'idempotency', 'prepare', 'confirm', 'attempt', 'answer', 'receipt'];

export function AuditView({ place, tools, version }) {
  const { runId = '', capability = '', status = '', stage = '' } = place.query;
  const wanted = { runId, capability, status, stage };
  const query = queryOf(wanted);
  const pages = usePages(query ? `/audit?${query}` : '/audit', version);
  const choose = (change) => { location.hash = auditAddress({ ...wanted, ...change }); };
  return html`
    <p class="view-intro">${t(runId ? 'audit.introRun' : 'audit.intro')}</p>
    <div class="filters" role="group" aria-label=${t('audit.filters')}>
      <${Choice} name="capability" value=${capability} values=${[...tools.keys()]} label=${toolLabel} onChoose=${choose} />
      <${Choice} name="status" value=${status} values=${statuses} label=${statusLabel} onChoose=${choose} />
      <${Choice} name="stage" value=${stage} values=${stages} label=${stageLabel} onChoose=${choose} />
      ${runId && html`<button type="button" class="filter-run" data-testid="audit-any-run" onClick=${() => choose({ runId: '' })}>
        ${t('audit.ofRun')} <code>${shortId(runId)}</code><${Icon} name="close" size="13" /><span class="sr-only">${t('audit.anyRun')}</span></button>`}
    </div>
    ${pages.error && html`<p class="state is-bad" role="alert">${t('audit.error', { why: why(pages.error) })}</p>`}
    ${pages.items?.length === 0 && html`<p class="panel-empty" data-testid="audit-empty">${t(query ? 'audit.none' : 'audit.empty')}</p>`}
    ${pages.items?.length > 0 && html`<ol class="records" data-testid="audit" aria-busy=${String(pages.busy)}>
      ${pages.items.map((record) => html`<${Record} key=${record.invocationId + record.at} record=${record} />`)}
    </ol>`}
    <${More} pages=${pages} />`;
}

function Choice({ name, value, values, label, onChoose }) {
  const all = value && !values.includes(value) ? [...values, value] : values;
  return html`<label class="filter"><span>${t(`audit.${name}`)}</span>
    <select value=${value} data-testid=${`audit-${name}`} onChange=${(event) => onChoose({ [name]: event.target.value })}>
      <option value="">${t('audit.any')}</option>
      ${all.map((one) => html`<option key=${one} value=${one} selected=${one === value}>${label(one)}</option>`)}
    </select></label>`;
}

/** The audit says SUCCESS where a receipt says SUCCEEDED. */
function plain(status) {
  return status === 'SUCCESS' ? 'SUCCEEDED' : status;
}

function statusLabel(status) {
  return known(`status.${plain(status)}`, status);
}

function stageLabel(stage) {
  return known(`stage.${stage}`, stage);
}

function Record({ record }) {
  const status = plain(record.status);
  return html`<li class="record" data-testid="record" data-capability=${record.capability} data-status=${record.status} data-run=${record.runId}>
    <details>
      <summary>
        <span class=${`mark mark-${tone(status)}`}><${Mark} status=${status} /></span>
        <span class="record-name">${toolLabel(record.capability)}</span>
        <span class=${`badge badge-${record.kind.toLowerCase()}`}>${record.kind}</span>
        <span class=${`record-status tone-${tone(status)}`}>${statusLabel(record.status)}</span>
        <span class="record-stage">${stageLabel(record.stage)}</span>
        <time datetime=${record.at}>${moment(record.at)}</time>
        <span class="num record-took">${duration(record.durationMs)}</span>
      </summary>
      <${Body} record=${record} />
    </details>
    ${record.runId && html`<a class="record-run" href=${runAddress(record.runId)} data-testid="record-run" title=${record.runId}>${t('audit.run')}</a>`}
  </li>`;
}

function Body({ record }) {
  return html`<div class="record-body">
    <dl class="facts">
      <dt>${t('audit.capability')}</dt><dd><code>${record.capability}</code></dd>
      <dt>${t('audit.source')}</dt><dd>${known(`source.${record.source}`, record.source)}</dd>
      ${record.code && html`<dt>${t('audit.code')}</dt><dd><code>${record.code}</code></dd>`}
      <dt>${t('audit.invocation')}</dt><dd><code>${record.invocationId}</code></dd>
      ${record.traceId && html`<dt>${t('run.trace')}</dt><dd><code>${record.traceId}</code></dd>`}
    </dl>
    <p class="tool-label">${t('card.arguments')}</p>
    <pre tabindex="0">${pretty(record.input) || t('card.none')}</pre>
    <p class="tool-label">${t('card.result')}</p>
    <pre tabindex="0">${pretty(record.output) || t('card.none')}</pre>
    <p class="links">
      ${record.threadId && html`<a href=${threadAddress(record.threadId)}>${t('orders.thread')}</a>`}
      ${record.runId && html`<a href=${auditAddress({ runId: record.runId })} data-testid="record-only-run">${t('audit.onlyRun')}</a>`}
    </p>
  </div>`;
}
