/** The conversation: its turns, or what to try when there are none yet. Follows the newest line unless one scrolls up. */
import { html, useEffect, useLayoutEffect, useRef, useState } from './vendor/htm-preact.js';
import { why } from './format.js';
import { lang, t } from './i18n.js';
import { Icon } from './icons.js';
import { TurnView } from './turnview.js';

const samples = ['who', 'time', 'menu', 'price', 'weather', 'remember', 'recommend', 'parallel', 'order'];
const NEAR = 80;

export function Log({ chat, tools, onAsk }) {
  const box = useRef(null);
  const follow = useRef(true);
  const [away, setAway] = useState(false);
  const count = chat.turns.length;

  const bottom = () => {
    const el = box.current;
    if (el) el.scrollTop = el.scrollHeight;
  };
  const onScroll = () => {
    const el = box.current;
    follow.current = el.scrollHeight - el.scrollTop - el.clientHeight < NEAR;
    if (away === follow.current) setAway(!follow.current);
  };
  useLayoutEffect(() => {
    follow.current = true; // a new question, or another conversation
    if (count) bottom();
  }, [chat, count]);
  useEffect(() => {
    if (!count) return undefined; // nothing to follow: what there is begins at the top
    const watcher = new ResizeObserver(() => follow.current && bottom());
    watcher.observe(box.current.firstElementChild);
    watcher.observe(box.current);
    return () => watcher.disconnect();
  }, [count > 0]);

  return html`<div class="log-frame">
    <div class="log" ref=${box} onScroll=${onScroll} onClick=${copyCode}>
      <div class="log-column" role="log" aria-live="off" aria-label=${t('chat.log')} aria-busy=${String(chat.loading)}
          data-testid="chat-log">
        ${chat.loadError && html`<${LoadError} chat=${chat} />`}
        ${chat.loading && html`<p class="state is-busy"><span class="spinner"></span>${t('chat.loading')}</p>`}
        ${count === 0 && chat.gone && html`<p class="state" role="status" data-testid="chat-gone"><${Icon} name="minus" size="15" />${t('chat.gone')}</p>`}
        ${count === 0 && !chat.loading && !chat.loadError && html`<${Welcome} onAsk=${onAsk} />`}
        ${chat.turns.map((turn) => html`<${TurnView} key=${turn.key} turn=${turn} version=${turn.version} chat=${chat}
          tools=${tools} language=${lang()} />`)}
      </div>
    </div>
    ${away && count > 0 && html`<button type="button" class="to-latest" aria-label=${t('chat.latest')} title=${t('chat.latest')}
      onClick=${() => { follow.current = true; bottom(); }}><${Icon} name="down" size="16" /></button>`}
  </div>`;
}

function LoadError({ chat }) {
  return html`<p class="state is-bad" role="alert">
    ${t('chat.loadFailed', { why: why(chat.loadError) })}
    <button type="button" class="link" onClick=${() => chat.load()}>${t('chat.retry')}</button>
  </p>`;
}

function Welcome({ onAsk }) {
  return html`<section class="welcome" data-testid="welcome">
    <h2>${t('chat.hello')}</h2>
    <p>${t('chat.intro')}</p>
    <h3>${t('chat.try')}</h3>
    <ul class="samples">
      ${samples.map((name) => html`<li key=${name}>
        <button type="button" class="chip" data-testid="sample" data-sample=${name} onClick=${() => onAsk(t(`sample.${name}`))}>
          ${t(`sample.${name}`)}
        </button>
      </li>`)}
    </ul>
    <button type="button" class="walk" data-testid="sample" data-sample="walk" onClick=${() => onAsk(t('sample.walk'))}>
      <span class="walk-label">${t('chat.walk')}</span>
      <span>${t('sample.walk')}</span>
      <${Icon} name="arrow" size="18" />
    </button>
  </section>`;
}

/** One listener for the copy buttons of all code blocks. */
async function copyCode(event) {
  const button = event.target.closest?.('.copy');
  if (!button) return;
  const code = button.closest('.code')?.querySelector('code');
  try {
    await navigator.clipboard.writeText(code?.textContent || '');
    button.textContent = t('chat.copied');
    setTimeout(() => { button.textContent = t('chat.copy'); }, 1500);
  } catch { /* no permission: the text can still be selected */ }
}
