/** The address of the page: which view is shown, of what, and how it is filtered. */

const views = ['orders', 'skills', 'memory', 'audit', 'runs'];

/**
 * Reads the address. View 'chat' with an empty id is a new conversation.
 * @returns {{view: string, id: string, query: Record<string, string>}}
 */
export function readPlace() {
  const [path, search = ''] = location.hash.slice(1).split('?');
  const [, view = '', id = ''] = path.split('/');
  const query = Object.fromEntries(new URLSearchParams(search));
  if (views.includes(view)) return { view, id: decoded(id), query };
  return { view: 'chat', id: view === 'c' ? decoded(id) : '', query: {} };
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return '';
  }
}

export function threadAddress(id) {
  return id ? `#/c/${encodeURIComponent(id)}` : '';
}

export function runAddress(id) {
  return `#/runs/${encodeURIComponent(id)}`;
}

/** @param {Record<string, string>} wanted runId, capability, status, stage; empty ones are left out */
export function auditAddress(wanted) {
  const query = queryOf(wanted);
  return query ? `#/audit?${query}` : '#/audit';
}

export function queryOf(values) {
  return new URLSearchParams(Object.entries(values).filter(([, value]) => value)).toString();
}
