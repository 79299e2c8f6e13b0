/** One run: how it stands, what it was offered and called, who took the time, and its raw events. */
import { html, useEffect, useRef, useState } from './vendor/htm-preact.js';
import * as api from './api.js';
import { Events } from './events.js';
import { duration, moment, why } from './format.js';
import { known, lang, t } from './i18n.js';
import { Icon } from './icons.js';
import { auditAddress, threadAddress } from './place.js';
import { Timeline } from './timeline.js';
import { ToolCard, toolLabel } from './toolcard.js';
import { isRunActive } from './turn.js';

const AGAIN_MS = 2000;

export function RunView({ place, tools }) {
  const { run, trace, error } = useRun(place.id);
  if (error?.status === 404) return html`<p class="state" role="status" data-testid="run-gone"><${Icon} name="minus" size="15" />${t('run.gone')}</p>`;
  if (error) return html`<p class="state is-bad" role="alert" data-testid="run-error">${t('run.error', { why: why(error) })}</p>`;
  if (!run) return html`<p class="state is-busy"><span class="spinner"></span>${t('run.loading')}</p>`;
  return html`<${Head} run=${run} />
    <${Timeline} run=${run} trace=${trace} />
    <${Offered} run=${run} />
    <${Calls} run=${run} tools=${tools} />
    <${ModelCalls} calls=${run.modelCalls || []} />
    <${Events} runId=${run.id} startedAt=${run.createdAt} />`;
}

/** Reads a run and its trace, again and again while it goes on. The trace is null until it is known, and may fail alone. */
function useRun(id) {
  const [state, setState] = useState({ run: null, trace: null, error: null });
  useEffect(() => {
    let timer;
    let left = false;
    const read = async () => {
      try {
        const run = await api.get(`/runs/${encodeURIComponent(id)}`);
        run.title = asked(run) || (await api.get(`/conversations/${encodeURIComponent(run.threadId)}`).catch(() => ({}))).title;
        if (left) return;
        setState((old) => ({ ...old, run, error: null }));
        const trace = await api.get(`/traces/${encodeURIComponent(run.traceId)}`).catch((error) => ({ error }));
        if (left) return;
        setState({ run, trace, error: null });
        if (isRunActive(run.status)) timer = setTimeout(read, AGAIN_MS);
      } catch (error) {
        if (left) return;
        setState((old) => ({ ...old, error: old.run ? null : error }));
        if (error.status === 0) timer = setTimeout(read, AGAIN_MS);
      }
    };
    read();
    return () => {
      left = true;
      clearTimeout(timer);
    };
  }, [id]);
  return state;
}

function Head({ run }) {
  const { usage = {} } = run;
  const number = (n) => (n || 0).toLocaleString(lang());
  const took = run.endedAt && run.startedAt ? Date.parse(run.endedAt) - Date.parse(run.startedAt) : NaN;
  return html`<section class="run-head" aria-labelledby="run-asked">
    <h2 id="run-asked" data-testid="run-asked">${run.title || t('run.untitled')}</h2>
    <p class="run-line">
      <span class=${`status run-${run.status.toLowerCase()}`} data-testid="run-status">${known(`run.status.${run.status}`, run.status)}</span>
      ${run.finishReason && html`<span data-testid="run-finish">${known(`run.finish.${run.finishReason}`, run.finishReason)}</span>`}
      <a href=${threadAddress(run.threadId)} data-testid="run-thread">${t(run.status === 'AWAITING_CONFIRMATION' ? 'confirm.open' : 'orders.thread')}</a>
      <a href=${auditAddress({ runId: run.id })} data-testid="run-audit">${t('run.audit')}</a>
    </p>
    ${run.error && html`<p class="state is-bad">${run.error.message} <code>${run.error.code}</code></p>`}
    <dl class="facts">
      <dt>${t('run.started')}</dt><dd><time datetime=${run.createdAt}>${moment(run.createdAt)}</time></dd>
      ${took >= 0 && html`<dt>${t('run.took')}</dt><dd>${duration(took)}</dd>`}
      <dt>${t('app.model')}</dt><dd>${run.model || '–'}</dd>
      <dt>${t('run.tokens')}</dt><dd data-testid="run-tokens">${t('run.tokensInOut', { in: number(usage.inputTokens), out: number(usage.outputTokens) })}</dd>
      <dt>${t('run.id')}</dt><dd><code>${run.id}</code></dd>
      <dt>${t('run.trace')}</dt><dd><code>${run.traceId}</code></dd>
    </dl>
  </section>`;
}

/** The question, as the model was given it. */
function asked(run) {
  const said = (run.modelCalls || [])[0]?.request?.messages?.findLast?.(({ role }) => role === 'user');
  return typeof said?.content === 'string' ? said.content : '';
}

function Offered({ run }) {
  const used = new Set((run.invocations || []).map(({ name }) => name));
  return html`<section aria-labelledby="run-offered">
    <h2 id="run-offered">${t('run.offered', { count: (run.tools || []).length })}</h2>
    <ul class="offered" data-testid="run-tools">
      ${(run.tools || []).map((name) => html`<li key=${name} class=${used.has(name) ? 'is-used' : ''} title=${name}>
        ${toolLabel(name)}${used.has(name) && html` <span>${t('run.used')}</span>`}</li>`)}
      ${!run.tools?.length && html`<li>${t('card.none')}</li>`}
    </ul>
  </section>`;
}

function Calls({ run, tools }) {
  if (!run.invocations?.length) return null;
  return html`<section aria-labelledby="run-calls">
    <h2 id="run-calls">${t('run.calls')}</h2>
    <div class="tools" data-testid="run-calls">${run.invocations.map((one) => html`<${ToolCard} key=${one.id} tools=${tools} part=${partOf(one)} />`)}</div>
  </section>`;
}

/** An invocation as the conversation shows it; what it waited for is the timeline's. */
function partOf({ id, name, args, status, result }) {
  const shown = { PROPOSED: 'RUNNING', ALLOWED: 'RUNNING', ASKING: 'WAITING' }[status] || status;
  return { id, name, args: JSON.stringify(args), status: shown, result: result === undefined ? undefined : JSON.stringify(result) };
}

function ModelCalls({ calls }) {
  if (!calls.length) return null;
  return html`<section aria-labelledby="run-models">
    <h2 id="run-models">${t('run.modelCalls')}</h2>
    <ol class="rounds" data-testid="run-model-calls">${calls.map((call) => html`<${ModelCall} key=${call.id} call=${call} />`)}</ol>
  </section>`;
}

function ModelCall({ call }) {
  const { usage = {} } = call;
  const [open, setOpen] = useState(false); // what the model was given is long
  const box = useRef(null);
  return html`<li><details ref=${box} onToggle=${() => setOpen(box.current.open)}>
    <summary>
      <span class="round-name">${t('run.round', { n: call.round })}</span>
      <span class="quiet">${call.model} · ${t('run.tokensInOut', { in: usage.inputTokens ?? 0, out: usage.outputTokens ?? 0 })}</span>
      ${call.error && html`<span class="tone-bad">${call.error}</span>`}
      <span class="num">${duration(call.durationMs)}</span>
    </summary>
    ${open && html`<p class="tool-label">${t('run.request')}</p>${call.request
      ? html`<pre tabindex="0">${JSON.stringify(call.request, null, 2)}</pre>` : html`<p class="quiet">${t('run.requestGone')}</p>`}`}
  </details></li>`;
}
