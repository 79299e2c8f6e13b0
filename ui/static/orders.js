/** Orders, newest first, as the server has them; never guessed from the conversation. */
import { html, useRef, useState } from './vendor/htm-preact.js';
import * as api from './api.js';
import { announce } from './announce.js';
import { day, moment, money, why } from './format.js';
import { known, pick, t } from './i18n.js';
import { More, usePages } from './lists.js';
import { dishOf } from './orderform.js';
import { runAddress, threadAddress } from './place.js';
import { TwoSteps } from './twosteps.js';

const SHOWN = 30;
const HOUR_MS = 3_600_000;

/** All of them, in parts. */
export function OrdersView({ version, onChanged }) {
  const pages = usePages('/orders', version);
  const cancelled = (order) => {
    pages.replace(order);
    onChanged();
  };
  return html`<p class="view-intro">${t('orders.intro')}</p>
    <${Orders} orders=${pages.items} error=${pages.error} current="" most=${Infinity} onCancelled=${cancelled} />
    <${More} pages=${pages} />`;
}

/**
 * @param {{orders: object[]|null, error: Error|null, current: string, most?: number, onCancelled: (order: object) => void}} props
 *   current: the conversation that is shown; onCancelled is given the order as the server now has it
 */
export function Orders({ orders, error, current, most = SHOWN, onCancelled }) {
  return html`<div data-testid="orders">
    ${error && html`<p class="state is-bad" role="alert">${t('orders.error', { why: why(error) })}</p>`}
    ${orders?.length === 0 && html`<div class="panel-empty"><p>${t('orders.empty')}</p><p>${t('orders.emptyHint')}</p></div>`}
    <ol class="cards">
      ${(orders || []).slice(0, most).map((order) => html`<${Order} key=${order.id} order=${order} current=${current} onCancelled=${onCancelled} />`)}
    </ol>
  </div>`;
}

function Order({ order, current, onCancelled }) {
  const card = useRef(null);
  const [failure, setFailure] = useState(null);
  const dishes = (order.lines || []).map(dishOf).join(t('list.and'));
  const cancel = async () => {
    setFailure(null);
    try {
      const now = await api.post(`/orders/${encodeURIComponent(order.id)}/cancel`, {});
      card.current?.focus(); // before the button goes
      onCancelled(now);
      announce(t('orders.cancelled', { dishes }));
      return true;
    } catch (error) {
      setFailure(error);
      return false;
    }
  };
  return html`<li class="order" tabindex="-1" ref=${card} data-testid="order" data-status=${order.status} data-order=${order.id}>
    <div class="order-head">
      <span class=${`status status-${order.status.toLowerCase()}`} data-testid="order-status">
        ${known(`order.${order.status}`, order.status)}
      </span>
      <time datetime=${order.createdAt}>${moment(order.createdAt)}</time>
    </div>
    <ul class="order-lines">
      ${(order.lines || []).map((line) => html`<li key=${line.dishId} data-testid="order-line">
        <span>${pick(line, 'name')} <span class="quiet order-unit">${money(line.unitFen)} × ${line.quantity}</span>
          ${line.note && html`<span class="line-note">${line.note}</span>`}</span>
        <span class="num">${money(line.amountFen)}</span>
      </li>`)}
    </ul>
    <${Why} order=${order} />
    <p class="order-reason">${t('orders.date', { day: day(order.date) })}${order.note && ` · ${order.note}`}</p>
    ${failure && html`<p class="state is-bad" role="alert" data-testid="order-problem">${t('orders.notCancelled', { why: why(failure) })}</p>`}
    <div class="order-foot">
      <code title=${order.id}>${shortId(order.id)}</code>
      ${order.threadId && order.threadId !== current && html`<a href=${threadAddress(order.threadId)} data-testid="order-thread">${t('orders.thread')}</a>`}
      ${order.runId && html`<a href=${runAddress(order.runId)} data-testid="order-run">${t('orders.run')}</a>`}
      <strong class="num" data-testid="order-total">${money(order.totalFen)}</strong>
      ${order.status === 'CONFIRMED' && !isPast(order.date) && html`<${TwoSteps} id="cancel-order"
        ask=${[t('orders.cancel'), t('orders.cancelOne', { dishes })]} yes=${[t('orders.cancelYes'), t('orders.cancelSure', { dishes })]}
        no=${t('orders.cancelNo')} onYes=${cancel} />`}
    </div>
  </li>`;
}

/** Whether a day is over everywhere, 12 hours behind UTC too; when it is over at the canteen, the server knows. */
function isPast(date) {
  return api.serverNow() > Date.parse(date) + 36 * HOUR_MS;
}

/** Why it was not ordered, or no longer is. */
function Why({ order }) {
  if (!order.reason || order.status === 'CONFIRMED') return null;
  return html`<p class="order-reason" data-testid="order-reason">${known(`reason.${order.reason}`, order.reason)}</p>`;
}

export function shortId(id) {
  return id.length > 16 ? `${id.slice(0, 6)}…${id.slice(-6)}` : id;
}
