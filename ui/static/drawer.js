/** The sides of the page as drawers, where there is no room for them beside the middle. */
import { html, useEffect } from './vendor/htm-preact.js';
import { t } from './i18n.js';
import { Icon } from './icons.js';

export function CloseDrawer({ onClose }) {
  return html`<button type="button" class="icon-button close-drawer" aria-label=${t('app.close')} onClick=${onClose}>
    <${Icon} name="close" /></button>`;
}

/** A drawer takes the focus while it is open and gives it back. */
export function useDrawerFocus(drawer) {
  useEffect(() => {
    if (!drawer) return undefined;
    const before = document.activeElement;
    document.querySelector(`.side-${drawer} .close-drawer`)?.focus();
    return () => before?.focus?.();
  }, [drawer]);
}

/** Esc closes a drawer, else stops the run that is shown; inside the confirmation card it does neither. */
export function useEscape(shown, drawer, setDrawer) {
  useEffect(() => {
    const onKey = (event) => {
      if (event.key !== 'Escape' || event.isComposing || event.keyCode === 229) return;
      if (drawer) setDrawer('');
      else if (!event.target.closest?.('[role=alertdialog]')) shown()?.stop();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [drawer]);
}
