/** The server's REST interface. Every answer that is not a success becomes an ApiError. */
import { askForKey, authorization } from './key.js';

export class ApiError extends Error {
  /** @param {number} status 0 means that no answer came at all */
  constructor(status, problem) {
    super(problem?.detail || problem?.title || `HTTP ${status}`);
    this.status = status;
    this.code = problem?.code || '';
    this.problem = problem || {};
  }
}

let clockOffset = 0;

/** Now by the server's clock, so that a countdown is right on a machine whose clock is not. */
export function serverNow() {
  return Date.now() + clockOffset;
}

function learnClock(response) {
  const date = Date.parse(response.headers.get('Date') || '');
  if (Number.isNaN(date)) return;
  const offset = date + 500 - Date.now(); // the header is cut to whole seconds
  clockOffset = Math.abs(offset) > 2000 ? offset : 0;
}

/**
 * One request. @returns {Promise<Response>}
 * @param {string} method @param {string} path below /api/v1 @param {object} [options] body, headers, signal
 */
export async function call(method, path, options = {}) {
  const had = authorization();
  const response = await send(method, path, options);
  if (response.status === 401 && await askForKey(Boolean(had.Authorization))) return call(method, path, options);
  if (!response.ok) throw new ApiError(response.status, await problemOf(response));
  return response;
}

async function send(method, path, { body, headers = {}, signal }) {
  const init = { method, headers: { ...headers, ...authorization() }, signal, cache: 'no-store', credentials: 'same-origin' };
  if (method !== 'GET') {
    init.headers['Content-Type'] = 'application/json';
    init.body = JSON.stringify(body ?? {});
  }
  let response;
  try {
    response = await fetch(`/api/v1${path}`, init);
  } catch (err) {
    if (signal?.aborted) throw err;
    throw new ApiError(0, { detail: err.message, code: 'network' });
  }
  learnClock(response);
  return response;
}

async function problemOf(response) {
  try {
    return await response.json();
  } catch {
    return {};
  }
}

export async function get(path) {
  return (await call('GET', path)).json();
}

/** A list answer's items; an answer of another shape is an empty list. */
export async function list(path) {
  const { items } = await get(path);
  return Array.isArray(items) ? items : [];
}

/** A part of a long list: its items, and the cursor of the next part, empty when there is none. */
export async function part(path, cursor) {
  const query = cursor ? `${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}` : '';
  const { items, nextCursor } = await get(path + query);
  return { items: Array.isArray(items) ? items : [], next: nextCursor || '' };
}

export async function post(path, body) {
  return jsonOrNothing(await call('POST', path, { body }));
}

export async function remove(path) {
  return jsonOrNothing(await call('DELETE', path));
}

async function jsonOrNothing(response) {
  const text = await response.text();
  return text ? JSON.parse(text) : {};
}
