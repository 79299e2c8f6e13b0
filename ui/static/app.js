/** The page: header, conversation or another view, and what surrounds it. Holds the lists that more than one part shows. */
import { html, render, useEffect, useMemo, useRef, useState } from './vendor/htm-preact.js';
import * as api from './api.js';
import { announceIn } from './announce.js';
import { Chat } from './chat.js';
import { Composer } from './composer.js';
import { CloseDrawer, useDrawerFocus, useEscape } from './drawer.js';
import { Header } from './header.js';
import { onLang, t } from './i18n.js';
import { Logo } from './icons.js';
import { newId } from './ids.js';
import { useList } from './lists.js';
import { Log } from './log.js';
import { Nav } from './nav.js';
import { Panel } from './panel.js';
import { readPlace, threadAddress } from './place.js';
import { Threads } from './threads.js';
import { View } from './view.js';

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

/** What does not change while the page is open: the model, and what can be called. */
function useFacts() {
  const [about, setAbout] = useState(null);
  const [tools, setTools] = useState(new Map());
  useEffect(() => {
    api.get('/about').then(setAbout, () => {});
    api.list('/capabilities').then((items) => setTools(new Map(items.map((c) => [c.name, c]))), () => {});
  }, []);
  return { about, tools };
}

/** Follows the address, the network and the tab: what was missed meanwhile is read again. */
function usePlace(current, show, redraw, reload) {
  const [place, setPlace] = useState(readPlace);
  const navigate = () => {
    const next = readPlace();
    setPlace(next);
    const shown = current.current;
    if (!shown || (next.view === 'chat' && next.id !== (shown.fresh ? '' : shown.threadId))) show(next.view === 'chat' ? next.id : '');
  };
  useEffect(() => {
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
  return [place, navigate];
}

/** A view that is gone to gets the focus at its title; the first one does not, and neither does a new filter. */
function useTitleFocus({ view, id }) {
  const before = useRef(null);
  useEffect(() => {
    if (before.current && view !== 'chat') document.getElementById('title')?.focus();
    before.current = view;
  }, [view, id]);
}

/** The server's lists, and a count of how often they may have changed. */
function useLists() {
  const [threads, reloadThreads] = useList('/conversations');
  const [orders, reloadOrders] = useList('/orders');
  const [open, reloadOpen] = useList('/confirmations?status=open');
  const [version, setVersion] = useState(0);
  const reload = () => {
    reloadOrders();
    reloadThreads();
    reloadOpen();
    setVersion((n) => n + 1);
  };
  return { threads, orders, open, version, reload };
}

function App() {
  const redraw = useRedraw();
  const { threads, orders, open, version, reload } = useLists();
  const { about, tools } = useFacts();
  const [drawer, setDrawer] = useState('');
  const hooks = useMemo(() => ({ onChange: redraw, onSettled: reload }), []);
  const [chat, show] = useChats(hooks);
  const current = useRef(null);
  current.current = chat;
  const [place, navigate] = usePlace(current, show, redraw, reload);
  const chatting = place.view === 'chat';

  useEscape(() => readPlace().view === 'chat' && current.current, drawer, setDrawer);
  useDrawerFocus(drawer);
  useTitleFocus(place);
  useEffect(() => setDrawer(''), [place]);

  const thread = threads.items?.find(({ id }) => id === chat?.threadId)?.title;
  const title = chatting ? thread : t(`nav.${place.view}`);
  useEffect(() => {
    document.title = title ? `${title} · AgentMesh` : 'AgentMesh';
  }, [title]);
  if (!chat) return null;

  const closeDrawer = () => setDrawer('');
  const goto = (id) => {
    closeDrawer();
    const hash = threadAddress(id);
    if (location.hash !== hash) history.pushState(null, '', hash || location.pathname);
    navigate();
    if (!id) requestAnimationFrame(() => document.getElementById('message')?.focus());
  };
  const send = (text) => {
    if (!chat.send(text)) return false;
    const hash = threadAddress(chat.threadId);
    if (location.hash !== hash) history.replaceState(null, '', hash);
    return true;
  };

  return html`<div class=${`shell ${chatting ? '' : 'is-wide'}`}>
    <a class="skip" href="#message" onClick=${skip}>${t(chatting ? 'app.skip' : 'app.skipView')}</a>
    <aside class=${`side side-left ${drawer === 'left' ? 'is-open' : ''}`} data-testid="sidebar">
      <div class="brand"><${Logo} /><span>AgentMesh</span><${CloseDrawer} onClose=${closeDrawer} /></div>
      <${Threads} threads=${threads.items} error=${threads.error} current=${chatting ? chat.threadId : ''}
        waiting=${new Set((open.items || []).map(({ threadId }) => threadId))} onOpen=${goto} onNew=${() => goto('')} />
      <${Nav} view=${place.view} onGo=${closeDrawer} />
    </aside>
    <main>
      <${Header} title=${chatting && !chat.turns.length ? '' : title} view=${!chatting} about=${about} onDrawer=${setDrawer} />
      <${Elsewhere} open=${open.items || []} chat=${chat} chatting=${chatting} onOpen=${goto} />
      ${chatting
        ? html`<${Log} key=${chat.threadId} chat=${chat} tools=${tools} onAsk=${send} /><${Composer} chat=${chat} onSend=${send} />`
        : html`<${View} place=${place} tools=${tools} version=${version} onChanged=${reload} />`}
      <div class="sr-only" aria-live="polite" ref=${announceIn} data-testid="announcer"></div>
    </main>
    ${chatting && html`<aside class=${`side side-right ${drawer === 'right' ? 'is-open' : ''}`} aria-label=${t('panel.title')} data-testid="panel">
      <${Panel} orders=${orders} tools=${tools} current=${chat.threadId} onChanged=${reload} onClose=${closeDrawer} />
    </aside>`}
    ${drawer && html`<div class="backdrop" onClick=${closeDrawer}></div>`}
  </div>`;
}

/** A question that waits where one does not look. */
function Elsewhere({ open, chat, chatting, onOpen }) {
  const question = chatting ? !chat.question && open.find(({ threadId }) => threadId !== chat.threadId) : open[0];
  if (!question) return null;
  return html`<p class="elsewhere" role="status" data-testid="open-elsewhere">
    <span>${t('confirm.elsewhere')}</span>
    <button type="button" class="link" onClick=${() => onOpen(question.threadId)}>${t('confirm.open')}</button>
  </p>`;
}

function skip(event) {
  event.preventDefault(); // the address is the view's
  (document.getElementById('message') || document.getElementById('title'))?.focus();
}

render(html`<${App} />`, document.getElementById('app'));
