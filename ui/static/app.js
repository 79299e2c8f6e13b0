/** The page: header, conversation, and what surrounds it. Holds the lists that more than one part shows. */
import { html, render, useEffect, useMemo, useRef, useState } from './vendor/htm-preact.js';
import * as api from './api.js';
import { announceIn } from './announce.js';
import { Chat } from './chat.js';
import { Composer } from './composer.js';
import { Header } from './header.js';
import { onLang, t } from './i18n.js';
import { Icon, Logo } from './icons.js';
import { newId } from './ids.js';
import { Log } from './log.js';
import { Panel } from './panel.js';
import { Threads } from './threads.js';

/** Redraws at most once a frame; a hidden tab draws when it is shown again. */
function useRedraw() {
  const [, bump] = useState(0);
  const due = useRef(false);
  return useMemo(() => () => {
    if (due.current) return;
    due.current = true;
    requestAnimationFrame(() => {
      due.current = false;
      bump((n) => n + 1);
    });
  }, []);
}

/** A list of the server that is read again on demand; the last good one stays when reading fails. */
function useList(path) {
  const [state, setState] = useState({ items: null, error: null });
  const turn = useRef(0);
  const reload = useMemo(() => async () => {
    const mine = ++turn.current;
    try {
      const items = await api.list(path);
      if (mine === turn.current) setState({ items, error: null });
    } catch (error) {
      if (mine === turn.current) setState((old) => ({ ...old, error }));
    }
  }, [path]);
  return [state, reload];
}

function threadInAddress() {
  const match = /^#\/c\/(.+)$/.exec(location.hash);
  try {
    return match ? decodeURIComponent(match[1]) : '';
  } catch {
    return '';
  }
}

/** The conversations of this page by id: one that runs goes on when another is shown. */
function useChats(hooks) {
  const chats = useRef(new Map());
  const [chat, setChat] = useState(null);
  const show = (id) => {
    const known = chats.current.get(id);
    const next = known || new Chat(id || newId('thread'), hooks, !id);
    chats.current.set(next.threadId, next);
    setChat(next);
    if (known) known.sync();
    else next.load();
  };
  return [chat, show];
}

/** What does not change while the page is open: the model, and which protocol serves which tool. */
function useFacts() {
  const [about, setAbout] = useState(null);
  const [kinds, setKinds] = useState(new Map());
  useEffect(() => {
    api.get('/about').then(setAbout, () => {});
    api.list('/capabilities').then((items) => setKinds(new Map(items.map((c) => [c.name, c.kind || '']))), () => {});
  }, []);
  return { about, kinds };
}

/** Follows the address, the network and the tab: what was missed meanwhile is read again. */
function usePlace(current, show, redraw, reload) {
  useEffect(() => {
    const navigate = () => {
      const id = threadInAddress();
      if (!current.current || id !== (current.current.fresh ? '' : current.current.threadId)) show(id);
    };
    const awake = () => {
      if (document.visibilityState !== 'visible') return;
      current.current?.wake();
      current.current?.sync();
      reload();
    };
    navigate();
    reload();
    const offLang = onLang(redraw);
    addEventListener('hashchange', navigate);
    addEventListener('online', awake);
    document.addEventListener('visibilitychange', awake);
    return () => {
      offLang();
      removeEventListener('hashchange', navigate);
      removeEventListener('online', awake);
      document.removeEventListener('visibilitychange', awake);
    };
  }, []);
}

function App() {
  const redraw = useRedraw();
  const [threads, reloadThreads] = useList('/conversations');
  const [orders, reloadOrders] = useList('/orders');
  const [open, reloadOpen] = useList('/confirmations?status=open');
  const { about, kinds } = useFacts();
  const [drawer, setDrawer] = useState('');
  const reload = () => {
    reloadOrders();
    reloadThreads();
    reloadOpen();
  };
  const hooks = useMemo(() => ({ onChange: redraw, onSettled: reload }), []);
  const [chat, show] = useChats(hooks);
  const current = useRef(null);
  current.current = chat;

  usePlace(current, show, redraw, reload);
  useEscape(current, drawer, setDrawer);
  useDrawerFocus(drawer);

  const title = threads.items?.find((thread) => thread.id === chat?.threadId)?.title;
  useEffect(() => {
    document.title = title ? `${title} · AgentMesh` : 'AgentMesh';
  }, [title]);
  if (!chat) return null;

  const goto = (id) => {
    setDrawer('');
    const hash = id ? `#/c/${encodeURIComponent(id)}` : '';
    if (location.hash !== hash) history.pushState(null, '', hash || location.pathname);
    show(id);
    if (!id) document.getElementById('message')?.focus();
  };
  const send = (text) => {
    if (!chat.send(text)) return false;
    const hash = `#/c/${encodeURIComponent(chat.threadId)}`;
    if (location.hash !== hash) history.replaceState(null, '', hash);
    return true;
  };
  const waiting = new Set((open.items || []).map((question) => question.threadId));
  const elsewhere = (open.items || []).find((question) => question.threadId !== chat.threadId);

  return html`<div class="shell">
    <a class="skip" href="#message" onClick=${skip}>${t('app.skip')}</a>
    <aside class=${`side side-left ${drawer === 'left' ? 'is-open' : ''}`} data-testid="sidebar">
      <div class="brand"><${Logo} /><span>AgentMesh</span><${CloseDrawer} onClose=${() => setDrawer('')} /></div>
      <${Threads} threads=${threads.items} error=${threads.error} current=${chat.threadId} waiting=${waiting} onOpen=${goto}
        onNew=${() => goto('')} />
    </aside>
    <main>
      <${Header} title=${chat.turns.length ? title : ''} about=${about} onDrawer=${setDrawer} />
      ${elsewhere && !chat.question && html`<p class="elsewhere" role="status" data-testid="open-elsewhere">
        <span>${t('confirm.elsewhere')}</span>
        <button type="button" class="link" onClick=${() => goto(elsewhere.threadId)}>${t('confirm.open')}</button>
      </p>`}
      <${Log} key=${chat.threadId} chat=${chat} kinds=${kinds} onAsk=${send} />
      <${Composer} chat=${chat} onSend=${send} />
      <div class="sr-only" aria-live="polite" ref=${announceIn} data-testid="announcer"></div>
    </main>
    <aside class=${`side side-right ${drawer === 'right' ? 'is-open' : ''}`} aria-label=${t('panel.title')} data-testid="panel">
      <${Panel} orders=${orders} current=${chat.threadId} onOpen=${goto} onClose=${() => setDrawer('')} />
    </aside>
    ${drawer && html`<div class="backdrop" onClick=${() => setDrawer('')}></div>`}
  </div>`;
}

/** Esc closes a drawer, else stops the run; inside the confirmation card it does neither. */
function useEscape(current, drawer, setDrawer) {
  useEffect(() => {
    const onKey = (event) => {
      if (event.key !== 'Escape' || event.isComposing || event.keyCode === 229) return;
      if (drawer) setDrawer('');
      else if (!event.target.closest?.('[role=alertdialog]')) current.current?.stop();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [drawer]);
}

/** A drawer takes the focus while it is open and gives it back. */
function useDrawerFocus(drawer) {
  useEffect(() => {
    if (!drawer) return undefined;
    const before = document.activeElement;
    document.querySelector(`.side-${drawer} .close-drawer`)?.focus();
    return () => before?.focus?.();
  }, [drawer]);
}

function skip(event) {
  event.preventDefault(); // the address is the conversation's
  document.getElementById('message')?.focus();
}

function CloseDrawer({ onClose }) {
  return html`<button type="button" class="icon-button close-drawer" aria-label=${t('app.close')} onClick=${onClose}>
    <${Icon} name="close" /></button>`;
}

render(html`<${App} />`, document.getElementById('app'));
