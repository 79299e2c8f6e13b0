/** The one text box. Enter sends, but not while an input method is still composing. */
import { html, useEffect, useLayoutEffect, useRef, useState } from './vendor/htm-preact.js';
import { known, t } from './i18n.js';
import { Icon } from './icons.js';

export function Composer({ chat, onSend }) {
  const [text, setText] = useState('');
  const box = useRef(null);
  const busy = Boolean(chat.active);

  useEffect(() => {
    if (!chat.draft) return;
    setText((now) => now || chat.draft); // a message that was not taken comes back
    chat.draft = '';
  }, [chat, chat.draft]);
  useLayoutEffect(() => {
    const el = box.current;
    el.style.height = 'auto';
    el.style.height = `${Math.min(el.scrollHeight, 220)}px`;
  }, [text]);
  useEffect(() => {
    if (matchMedia('(pointer: fine)').matches && document.activeElement === document.body) box.current.focus();
  }, [chat]);

  const last = useRef(null);
  last.current = { chat, text };
  useEffect(() => () => { last.current.chat.draft = last.current.text; }, []); // another view is shown: kept until the return

  const send = () => {
    if (onSend(text)) setText('');
  };
  const onKeyDown = (event) => {
    if (event.key !== 'Enter' || event.shiftKey) return;
    if (event.isComposing || event.keyCode === 229) return; // this Enter picks a word
    event.preventDefault();
    send();
  };
  const submit = (event) => {
    event.preventDefault();
    send();
  };
  return html`<form class="composer" onSubmit=${submit}>
    <${Notice} notice=${chat.notice} />
    <div class="composer-box">
      <label class="sr-only" for="message">${t('composer.label')}</label>
      <textarea id="message" ref=${box} rows="1" autocomplete="off" enterkeyhint="send" value=${text}
        placeholder=${t('composer.placeholder')} data-testid="message-input" aria-describedby="composer-hint"
        onInput=${(event) => setText(event.target.value)} onKeyDown=${onKeyDown}></textarea>
      ${busy
        ? html`<button type="button" key="stop" class="round is-stop" data-testid="stop" disabled=${chat.active.stopping}
            aria-label=${t('composer.stop')} title=${t('composer.stop')} onClick=${() => chat.stop()}><span></span></button>`
        : html`<button type="submit" key="send" class="round" data-testid="send" disabled=${!text.trim()}
            aria-label=${t('composer.send')} title=${t('composer.send')}><${Icon} name="send" size="18" /></button>`}
    </div>
    <p class="composer-hint" id="composer-hint">${t('composer.hint')}</p>
  </form>`;
}

function Notice({ notice }) {
  if (!notice) return null;
  const text = known(`error.${notice.code}`, t('error.unknown')).replace('{detail}', notice.detail || '');
  return html`<p class="notice" role="alert" data-testid="notice"><${Icon} name="warn" size="16" /><span>${text}</span></p>`;
}
