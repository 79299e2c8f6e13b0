/** What is remembered about the person: where it comes from, and a way to have it forgotten. */
import { html, useRef, useState } from './vendor/htm-preact.js';
import * as api from './api.js';
import { announce } from './announce.js';
import { moment, why } from './format.js';
import { known, t } from './i18n.js';
import { More, usePages } from './lists.js';
import { runAddress } from './place.js';
import { TwoSteps } from './twosteps.js';

export function MemoryView({ version }) {
  const pages = usePages('/preferences', version);
  const [failure, setFailure] = useState(null);
  const intro = useRef(null);

  const forget = async (preference) => {
    setFailure(null);
    try {
      await api.remove(`/preferences/${encodeURIComponent(preference.id)}`);
    } catch (error) {
      if (error.status !== 404) { // 404: it is forgotten already
        setFailure(error);
        return false;
      }
    }
    pages.without(preference.id);
    announce(t('memory.forgotten', { statement: preference.statement }));
    intro.current?.focus();
    return true;
  };
  const error = failure || pages.error;
  return html`
    <p class="view-intro" tabindex="-1" ref=${intro}>${t('memory.intro')}</p>
    ${error && html`<p class="state is-bad" role="alert">${t(failure ? 'memory.failed' : 'memory.error', { why: why(error) })}</p>`}
    ${pages.items?.length === 0 && html`<div class="panel-empty" data-testid="memory-empty">
      <p>${t('memory.empty')}</p><p>${t('memory.emptyHint')}</p></div>`}
    <ol class="cards" data-testid="memory">
      ${(pages.items || []).map((one) => html`<${Preference} key=${one.id} preference=${one} onForget=${() => forget(one)} />`)}
    </ol>
    <${More} pages=${pages} />`;
}

function Preference({ preference, onForget }) {
  const { statement, kind, createdAt, runId } = preference;
  return html`<li class="memory" data-testid="preference">
    <p class="memory-text">${statement}</p>
    <div class="memory-foot">
      <span class="tag">${known(`memory.kind.${kind}`, kind)}</span>
      <time datetime=${createdAt}>${moment(createdAt)}</time>
      ${runId && html`<a href=${runAddress(runId)} data-testid="preference-run">${t('memory.run')}</a>`}
      <${TwoSteps} id="forget" ask=${[t('memory.forget'), t('memory.forgetOne', { statement })]}
        yes=${[t('memory.yes'), t('memory.sure', { statement })]} no=${t('memory.no')} onYes=${onForget} />
    </div>
  </li>`;
}
