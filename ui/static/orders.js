/** Recent orders, newest first, as the server has them; never guessed from the conversation. */
import { html } from './vendor/htm-preact.js';
import { moment, money, why } from './format.js';
import { known, pick, t } from './i18n.js';

const SHOWN = 30;

/** @param {{orders: object[]|null, error: Error|null, current: string, onOpen: (threadId: string) => void}} props */
export function Orders({ orders, error, current, onOpen }) {
  return html`<div data-testid="orders">
    ${error && html`<p class="state is-bad" role="alert">${t('orders.error', { why: why(error) })}</p>`}
    ${orders?.length === 0 && html`<div class="panel-empty"><p>${t('orders.empty')}</p><p>${t('orders.emptyHint')}</p></div>`}
    <ol class="cards">
      ${(orders || []).slice(0, SHOWN).map((order) => html`<${Order} key=${order.id} order=${order}
        onOpen=${order.threadId && order.threadId !== current ? onOpen : null} />`)}
    </ol>
  </div>`;
}

function Order({ order, onOpen }) {
  const reason = order.reason && order.status !== 'CONFIRMED' ? known(`reason.${order.reason}`, order.reason) : '';
  return html`<li class="order" data-testid="order" data-status=${order.status} data-order=${order.id}>
    <div class="order-head">
      <span class=${`status status-${order.status.toLowerCase()}`} data-testid="order-status">
        ${known(`order.${order.status}`, order.status)}
      </span>
      <time datetime=${order.createdAt}>${moment(order.createdAt)}</time>
    </div>
    <ul class="order-lines">
      ${(order.lines || []).map((line) => html`<li key=${line.dishId}>
        <span>${pick(line, 'name')} <span class="quiet">× ${line.quantity}</span>
          ${line.note && html`<span class="line-note">${line.note}</span>`}</span>
        <span class="num">${money(line.amountFen)}</span>
      </li>`)}
    </ul>
    ${reason && html`<p class="order-reason">${reason}</p>`}
    <div class="order-foot">
      <code title=${order.id}>${shortId(order.id)}</code>
      ${onOpen && html`<button type="button" class="link" onClick=${() => onOpen(order.threadId)}>${t('orders.thread')}</button>`}
      <strong class="num" data-testid="order-total">${money(order.totalFen)}</strong>
    </div>
  </li>`;
}

function shortId(id) {
  return id.length > 16 ? `${id.slice(0, 6)}…${id.slice(-6)}` : id;
}
