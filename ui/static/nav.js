/** The way to the views: what the page shows besides conversations. */
import { html } from './vendor/htm-preact.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';

const views = ['orders', 'skills', 'memory', 'audit'];

export function Nav({ view, onGo }) {
  return html`<nav class="views" aria-label=${t('nav.title')} data-testid="views">
    <ul>
      ${views.map((name) => html`<li key=${name}>
        <a href=${`#/${name}`} aria-current=${view === name ? 'page' : undefined} data-testid=${`nav-${name}`} onClick=${onGo}>
          <${Icon} name=${name} size="17" />${t(`nav.${name}`)}</a>
      </li>`)}
    </ul>
  </nav>`;
}
