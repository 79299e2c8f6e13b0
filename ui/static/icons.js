/** The page's few line icons; decoration only, the words are beside them. */
import { html } from './vendor/htm-preact.js';

const paths = {
  menu: 'M4 7h16M4 12h16M4 17h10',
  panel: 'M4 6.5A1.5 1.5 0 0 1 5.5 5h13A1.5 1.5 0 0 1 20 6.5v11a1.5 1.5 0 0 1-1.5 1.5h-13A1.5 1.5 0 0 1 4 17.5zM14.5 5v14',
  plus: 'M12 5v14M5 12h14',
  close: 'M6 6l12 12M18 6 6 18',
  send: 'M12 19V5M6 11l6-6 6 6',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  cross: 'M7 7l10 10M17 7 7 17',
  minus: 'M6 12h12',
  clock: 'M12 7.5V12l3 2M20 12a8 8 0 1 1-16 0 8 8 0 0 1 16 0z',
  chevron: 'M9 6l6 6-6 6',
  down: 'M12 5v14M6 13l6 6 6-6',
  warn: 'M12 9v4.5M12 16.8v.2M10.3 4.8 3.4 17a2 2 0 0 0 1.7 3h13.8a2 2 0 0 0 1.7-3L13.7 4.8a2 2 0 0 0-3.4 0z',
  lock: 'M7 11V8.5a5 5 0 0 1 10 0V11M6.5 11h11a1 1 0 0 1 1 1v7a1 1 0 0 1-1 1h-11a1 1 0 0 1-1-1v-7a1 1 0 0 1 1-1z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 3v2M12 19v2M3 12h2M19 12h2M5.6 5.6 7 7M17 17l1.4 1.4M18.4 5.6 17 7M7 17l-1.4 1.4',
  moon: 'M19.5 14.5A8 8 0 0 1 9.5 4.5a8 8 0 1 0 10 10z',
  auto: 'M12 4a8 8 0 1 0 0 16zM12 4a8 8 0 0 1 0 16',
  orders: 'M6 3.5h12v17l-3-2-3 2-3-2-3 2zM9.5 8.5h5M9.5 12.5h5',
  skills: 'M5 5h6v6H5zM13.5 5h5.5v6h-5.5zM5 13.5h6V19H5zM16.2 13.5v5.5M13.5 16.2h5.5',
  memory: 'M7 4.5h10v15l-5-3.6-5 3.6z',
  audit: 'M9 6.5h10.5M9 12h10.5M9 17.5h10.5M4.8 6.5h.4M4.8 12h.4M4.8 17.5h.4',
  timeline: 'M4 6h8M8 12h9M13 18h7',
  arrow: 'M6 12h12M13 7l5 5-5 5',
};

export function Icon({ name, size = 18 }) {
  return html`<svg class="icon" width=${size} height=${size} viewBox="0 0 24 24" fill="none" stroke="currentColor"
    stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round" aria-hidden="true" focusable="false">
    <path d=${paths[name]} />
  </svg>`;
}

export function Logo() {
  return html`<svg class="logo" width="26" height="26" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect class="logo-ground" width="32" height="32" rx="9" />
    <path class="logo-line" d="M16 9 9 21.5h14z" />
    <circle class="logo-dot" cx="16" cy="9" r="2.8" /><circle class="logo-dot" cx="9" cy="21.5" r="2.8" />
    <circle class="logo-dot" cx="23" cy="21.5" r="2.8" />
  </svg>`;
}
