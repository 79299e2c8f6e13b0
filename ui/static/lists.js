/** Lists of the server as hooks: whole ones that are read again on demand, and long ones in parts. */
import { html, useEffect, useMemo, useRef, useState } from './vendor/htm-preact.js';
import * as api from './api.js';
import { t } from './i18n.js';

/** A list that is read again on demand; the last good one stays when reading fails. */
export function useList(path) {
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

/**
 * A long list, newest part first; more() reads the next part. A new version reads it again, but not under
 * the eyes of somebody who is far down in it.
 */
export function usePages(path, version) {
  const [state, setState] = useState({ items: null, next: '', error: null, busy: true, parts: 0 });
  const turn = useRef(0);
  const read = async (cursor) => {
    const mine = ++turn.current;
    setState((old) => ({ ...old, busy: true }));
    try {
      const { items, next } = await api.part(path, cursor);
      if (mine !== turn.current) return;
      setState((old) => ({
        items: cursor ? [...old.items, ...items] : items, next, error: null, busy: false, parts: cursor ? old.parts + 1 : 1,
      }));
    } catch (error) {
      if (mine === turn.current) setState((old) => ({ ...old, error, busy: false }));
    }
  };
  useEffect(() => { read(''); }, [path]);
  useEffect(() => {
    if (version > 0 && state.parts === 1 && !state.busy) read('');
  }, [version]);
  const without = (id) => setState((old) => ({ ...old, items: old.items.filter((item) => item.id !== id) }));
  const replace = (item) => setState((old) => ({ ...old, items: old.items.map((one) => (one.id === item.id ? item : one)) }));
  return { ...state, more: () => read(state.next), without, replace };
}

/** The end of a long list: a button for the next part, or how many there are. Keeps the focus that the button had. */
export function More({ pages }) {
  const end = useRef(null);
  const paged = pages.parts > 1;
  useEffect(() => {
    if (paged && !pages.next) end.current?.focus();
  }, [pages.next]);
  if (pages.next) {
    return html`<button type="button" class="button more" aria-busy=${String(pages.busy)} data-testid="more"
      onClick=${() => !pages.busy && pages.more()}>${t(pages.busy ? 'list.reading' : 'list.more')}</button>`;
  }
  return paged && html`<p class="list-end" tabindex="-1" ref=${end} data-testid="list-end">${t('list.end', { count: pages.items.length })}</p>`;
}
