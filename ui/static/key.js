/** The key of this tab, when the server asks for one. It is kept until the tab is closed. */
import { t } from './i18n.js';

const STORE = 'agentmesh.key';
let asking = null;

export function authorization() {
  const key = sessionStorage.getItem(STORE);
  return key ? { Authorization: `Bearer ${key}` } : {};
}

/** Asks the person for a key; however many requests need one at once, they are asked once. */
export function askForKey(refused) {
  asking ??= ask(refused).finally(() => { asking = null; });
  return asking;
}

function ask(refused) {
  const dialog = document.createElement('dialog');
  dialog.className = 'key-dialog';
  dialog.dataset.testid = 'key-dialog';
  const form = document.createElement('form');
  form.method = 'dialog';
  const title = element('h2', t('key.title'));
  const note = element('p', t(refused ? 'key.refused' : 'key.body'));
  const input = document.createElement('input');
  Object.assign(input, { type: 'password', autocomplete: 'off', required: true, ariaLabel: t('key.title') });
  input.dataset.testid = 'key-input';
  const button = element('button', t('key.use'));
  button.className = 'button is-primary';
  form.append(title, note, input, button);
  dialog.append(form);
  document.body.append(dialog);
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener('close', () => {
      const key = input.value.trim();
      if (key) sessionStorage.setItem(STORE, key);
      dialog.remove();
      resolve(Boolean(key));
    });
  });
}

function element(name, text) {
  const el = document.createElement(name);
  el.textContent = text;
  return el;
}
