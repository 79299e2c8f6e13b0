/** What is remembered about the person: where it comes from, and a way to have it forgotten. */
import { html, useEffect, useRef, useState } from './vendor/htm-preact.js';
import * as api from './api.js';
import { announce } from './announce.js';
import { moment, why } from './format.js';
import { known, t } from './i18n.js';
import { More, usePages } from './lists.js';
import { runAddress } from './place.js';

export function MemoryView({ version }) {
  const pages = usePages('/preferences', version);
  const [asked, setAsked] = useState(''); // the one that is about to be forgotten
  const [failure, setFailure] = useState(null);
  const intro = useRef(null);

  const forget = async (preference) => {
    setFailure(null);
    try {
      await api.remove(`/preferences/${encodeURIComponent(preference.id)}`);
    } catch (error) {
      if (error.status !== 404) return setFailure(error); // 404: it is forgotten already
    }
    setAsked('');
    pages.without(preference.id);
    announce(t('memory.forgotten', { statement: preference.statement }));
    intro.current?.focus();
  };
  const error = failure || pages.error;
  return html`
    <p class="view-intro" tabindex="-1" ref=${intro}>${t('memory.intro')}</p>
    ${error && html`<p class="state is-bad" role="alert">${t(failure ? 'memory.failed' : 'memory.error', { why: why(error) })}</p>`}
    ${pages.items?.length === 0 && html`<div class="panel-empty" data-testid="memory-empty">
      <p>${t('memory.empty')}</p><p>${t('memory.emptyHint')}</p></div>`}
    <ol class="cards" data-testid="memory">
      ${(pages.items || []).map((one) => html`<${Preference} key=${one.id} preference=${one} asked=${asked === one.id}
        onAsk=${() => setAsked(one.id)} onKeep=${() => setAsked('')} onForget=${() => forget(one)} />`)}
    </ol>
    <${More} pages=${pages} />`;
}

function Preference({ preference, asked, onAsk, onKeep, onForget }) {
  const { statement, kind, createdAt, runId } = preference;
  const yes = useRef(null);
  const ask = useRef(null);
  const before = useRef(asked);
  useEffect(() => {
    if (asked !== before.current) (asked ? yes : ask).current?.focus();
    before.current = asked;
  }, [asked]);
  return html`<li class="memory" data-testid="preference">
    <p class="memory-text">${statement}</p>
    <div class="memory-foot">
      <span class="tag">${known(`memory.kind.${kind}`, kind)}</span>
      <time datetime=${createdAt}>${moment(createdAt)}</time>
      ${runId && html`<a href=${runAddress(runId)} data-testid="preference-run">${t('memory.run')}</a>`}
      <span class="memory-buttons">
        ${asked
          ? html`<button type="button" key="yes" class="button is-small is-bad" ref=${yes} aria-label=${t('memory.sure', { statement })}
                data-testid="forget-yes" onClick=${onForget}>${t('memory.yes')}</button>
              <button type="button" key="no" class="button is-small" onClick=${onKeep}>${t('memory.no')}</button>`
          : html`<button type="button" key="ask" class="button is-small" ref=${ask} aria-label=${t('memory.forgetOne', { statement })}
              data-testid="forget" onClick=${onAsk}>${t('memory.forget')}</button>`}
      </span>
    </div>
  </li>`;
}
