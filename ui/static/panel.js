/** Orders and skills beside the conversation, as two tabs. */
import { html, useRef, useState } from './vendor/htm-preact.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';
import { Orders } from './orders.js';
import { Skills } from './skills.js';

const tabs = ['orders', 'skills'];

export function Panel({ orders, tools, current, onChanged, onClose }) {
  const [tab, setTab] = useState('orders');
  const list = useRef(null);
  const onKeyDown = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = tabs[(tabs.indexOf(tab) + step + tabs.length) % tabs.length];
    setTab(next);
    list.current.querySelector(`#tab-${next}`).focus();
  };
  return html`
    <div class="panel-head">
      <div class="tabs" role="tablist" aria-label=${t('panel.title')} ref=${list} onKeyDown=${onKeyDown}>
        ${tabs.map((name) => html`<button type="button" role="tab" key=${name} id=${`tab-${name}`} data-testid=${`tab-${name}`}
          aria-selected=${String(tab === name)} aria-controls="tab-content" tabindex=${tab === name ? 0 : -1}
          onClick=${() => setTab(name)}>${t(`panel.${name}`)}</button>`)}
      </div>
      <button type="button" class="icon-button close-drawer" aria-label=${t('app.close')} onClick=${onClose}>
        <${Icon} name="close" /></button>
    </div>
    <div class="panel-body" role="tabpanel" id="tab-content" aria-labelledby=${`tab-${tab}`} tabindex="-1">
      ${tab === 'orders'
        ? html`<${Orders} orders=${orders.items} error=${orders.error} current=${current} onCancelled=${onChanged} />`
        : html`<${Skills} tools=${tools} />`}
    </div>`;
}
