/** The line above the conversation: its title, the model, language, colours, and the buttons of the drawers. */
import { html, useState } from './vendor/htm-preact.js';
import { lang, setLang, t } from './i18n.js';
import { Icon } from './icons.js';
import { keep, recall } from './ids.js';

export function Header({ title, view, about, onDrawer }) {
  const model = about?.model;
  return html`<header class="top">
    <button type="button" class="icon-button for-left" aria-label=${t('app.menu')} title=${t('app.menu')} data-testid="open-sidebar"
      onClick=${() => onDrawer('left')}><${Icon} name="menu" size="20" /></button>
    <h1 class=${`top-title ${view ? 'is-view' : ''}`} id="title" tabindex="-1">${title || t('app.tagline')}</h1>
    ${model && html`<span class="model" title=${`${t('app.model')}: ${model.name}`} data-testid="model">
      ${model.demo ? t('app.model.demo') : model.name}</span>`}
    <button type="button" class="icon-button text-button" lang=${lang() === 'zh' ? 'en' : 'zh-CN'} aria-label=${t('app.lang')}
      title=${t('app.lang')} data-testid="language" onClick=${() => setLang(lang() === 'zh' ? 'en' : 'zh')}>
      ${lang() === 'zh' ? 'EN' : '中'}</button>
    <${Theme} />
    ${!view && html`<button type="button" class="icon-button for-right" aria-label=${t('app.panel')} title=${t('app.panel')}
      data-testid="open-panel" onClick=${() => onDrawer('right')}><${Icon} name="panel" size="20" /></button>`}
  </header>`;
}

const themes = ['auto', 'light', 'dark'];
const icons = { auto: 'auto', light: 'sun', dark: 'moon' };

function Theme() {
  const [theme, setTheme] = useState(themes.includes(recall('theme')) ? recall('theme') : 'auto');
  const next = () => {
    const chosen = themes[(themes.indexOf(theme) + 1) % themes.length];
    setTheme(chosen);
    keep('theme', chosen === 'auto' ? null : chosen);
    if (chosen === 'auto') delete document.documentElement.dataset.theme;
    else document.documentElement.dataset.theme = chosen;
  };
  return html`<button type="button" class="icon-button" aria-label=${t(`app.theme.${theme}`)} title=${t(`app.theme.${theme}`)}
    data-testid="theme" data-theme-choice=${theme} onClick=${next}><${Icon} name=${icons[theme]} size="19" /></button>`;
}
