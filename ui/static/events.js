/** A run's event log as it is stored: what every stream and every replay is read from. */
import { html, useEffect, useRef, useState } from './vendor/htm-preact.js';
import * as api from './api.js';
import { duration, why } from './format.js';
import { t } from './i18n.js';
import { authorization } from './key.js';
import { readEvents } from './stream.js';

const SHOWN = 200;

/** Reads the log when it is opened, and what is added to it while it stays open. */
export function Events({ runId, startedAt }) {
  const [open, setOpen] = useState(false);
  const box = useRef(null);
  return html`<section aria-labelledby="run-events">
    <details class="events" ref=${box} onToggle=${() => setOpen(box.current.open)} data-testid="events">
      <summary><h2 id="run-events">${t('events.title')}</h2></summary>
      ${open && html`<${Inspector} runId=${runId} startedAt=${startedAt} />`}
    </details>
  </section>`;
}

function useEvents(path) {
  const [state, setState] = useState({ events: [], error: null });
  useEffect(() => {
    const gone = new AbortController();
    const events = [];
    let due = 0;
    const show = () => {
      due = 0;
      setState((old) => ({ ...old, events: [...events] }));
    };
    const read = async () => {
      const response = await api.call('GET', path, { headers: { Accept: 'text/event-stream' }, signal: gone.signal });
      await readEvents(response, (event) => {
        events.push(event);
        due ||= requestAnimationFrame(show);
      });
    };
    read().catch((error) => { if (!gone.signal.aborted) setState((old) => ({ ...old, error })); });
    return () => {
      gone.abort();
      cancelAnimationFrame(due);
    };
  }, [path]);
  return state;
}

function Inspector({ runId, startedAt }) {
  const path = `/runs/${encodeURIComponent(runId)}/events`;
  const { events, error } = useEvents(path);
  const [type, setType] = useState('');
  const [most, setMost] = useState(SHOWN);
  const types = [...new Set(events.map((event) => event.type))].sort();
  const chosen = type ? events.filter((event) => event.type === type) : events;
  const start = Date.parse(startedAt);
  return html`<div class="filters">
      <label class="filter"><span>${t('events.type')}</span>
        <select value=${type} data-testid="events-type" onChange=${(event) => setType(event.target.value)}>
          <option value="">${t('events.all', { count: events.length })}</option>
          ${types.map((one) => html`<option key=${one} value=${one}>${one}</option>`)}
        </select></label>
      <${Copy} events=${chosen} />
      ${!authorization().Authorization && html`<a href=${`/api/v1${path}`} target="_blank" rel="noopener" data-testid="events-raw">${t('events.raw')}</a>`}
    </div>
    ${error?.status === 410 && html`<p class="state" role="status" data-testid="events-gone">${t('events.gone')}</p>`}
    ${error && error.status !== 410 && html`<p class="state is-bad" role="alert">${t('events.error', { why: why(error) })}</p>`}
    <ol class="event-list">
      ${chosen.slice(0, most).map((event, i) => html`<li key=${i}><details>
        <summary><code>${event.type}</code><span class="event-hint">${hint(event)}</span>
          <span class="num quiet">+${duration(Math.max(event.timestamp - start, 0))}</span></summary>
        <pre tabindex="0">${JSON.stringify(event, null, 2)}</pre>
      </details></li>`)}
    </ol>
    ${chosen.length > most && html`<button type="button" class="button more" onClick=${() => setMost(most + SHOWN)}>${t('list.more')}</button>`}`;
}

function hint(event) {
  return String(event.name || event.toolCallName || event.stepName || event.delta || event.content || event.message || '').slice(0, 80);
}

function Copy({ events }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(events.map((event) => JSON.stringify(event)).join('\n'));
      setCopied(true);
      setTimeout(() => setCopied(false), 1500);
    } catch { /* no permission: the raw stream can still be opened */ }
  };
  return html`<button type="button" class="button is-small" onClick=${copy}>${t(copied ? 'chat.copied' : 'events.copy')}</button>`;
}
