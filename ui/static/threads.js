/** The list of conversations. */
import { html } from './vendor/htm-preact.js';
import { moment } from './format.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';

/** @param {{threads: object[]|null, error: Error|null, current: string, waiting: Set<string>}} props */
export function Threads({ threads, error, current, waiting, onOpen, onNew }) {
  return html`<nav class="threads" aria-label=${t('threads.title')} data-testid="conversations">
    <button type="button" class="button new-thread" data-testid="new-conversation" onClick=${onNew}>
      <${Icon} name="plus" size="16" />${t('threads.new')}
    </button>
    <h2>${t('threads.title')}</h2>
    ${error && html`<p class="state is-bad" role="alert">${t('threads.error')}</p>`}
    ${threads?.length === 0 && html`<p class="panel-empty">${t('threads.empty')}</p>`}
    <ul>
      ${(threads || []).map((thread) => html`<li key=${thread.id}>
        <button type="button" class="thread" aria-current=${thread.id === current ? 'page' : undefined}
            data-testid="conversation" data-conversation=${thread.id} onClick=${() => onOpen(thread.id)}>
          <span class="thread-title">${thread.title || t('threads.untitled')}</span>
          <span class="thread-meta">
            ${waiting.has(thread.id) && html`<span class="status status-placing">${t('threads.waiting')}</span>`}
            <time datetime=${thread.updatedAt}>${moment(thread.updatedAt)}</time>
          </span>
        </button>
      </li>`)}
    </ul>
  </nav>`;
}
