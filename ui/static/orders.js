/** Orders, newest first, as the server has them; never guessed from the conversation. */
import { html } from './vendor/htm-preact.js';
import { day, moment, money, why } from './format.js';
import { known, pick, t } from './i18n.js';
import { More, usePages } from './lists.js';
import { runAddress, threadAddress } from './place.js';

const SHOWN = 30;

/** All of them, in parts. */
export function OrdersView({ version }) {
  const pages = usePages('/orders', version);
  return html`<p class="view-intro">${t('orders.intro')}</p>
    <${Orders} orders=${pages.items} error=${pages.error} current="" most=${Infinity} />
    <${More} pages=${pages} />`;
}

/** @param {{orders: object[]|null, error: Error|null, current: string, most?: number}} props current: the conversation that is shown */
export function Orders({ orders, error, current, most = SHOWN }) {
  return html`<div data-testid="orders">
    ${error && html`<p class="state is-bad" role="alert">${t('orders.error', { why: why(error) })}</p>`}
    ${orders?.length === 0 && html`<div class="panel-empty"><p>${t('orders.empty')}</p><p>${t('orders.emptyHint')}</p></div>`}
    <ol class="cards">
      ${(orders || []).slice(0, most).map((order) => html`<${Order} key=${order.id} order=${order} current=${current} />`)}
    </ol>
  </div>`;
}

function Order({ order, current }) {
  return html`<li class="order" data-testid="order" data-status=${order.status} data-order=${order.id}>
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
    <div class="order-foot">
      <code title=${order.id}>${shortId(order.id)}</code>
      ${order.threadId && order.threadId !== current && html`<a href=${threadAddress(order.threadId)}>${t('orders.thread')}</a>`}
      ${order.runId && html`<a href=${runAddress(order.runId)} data-testid="order-run">${t('orders.run')}</a>`}
      <strong class="num" data-testid="order-total">${money(order.totalFen)}</strong>
    </div>
  </li>`;
}

/** Why it was not ordered, or no longer is. */
function Why({ order }) {
  if (!order.reason || order.status === 'CONFIRMED') return null;
  return html`<p class="order-reason" data-testid="order-reason">${known(`reason.${order.reason}`, order.reason)}</p>`;
}

export function shortId(id) {
  return id.length > 16 ? `${id.slice(0, 6)}…${id.slice(-6)}` : id;
}
