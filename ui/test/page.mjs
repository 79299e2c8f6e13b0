// What the browser tests share: a browser, a page that is watched, and words for what a person does.
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';

const { AGENTMESH_URL, AGENTMESH_NPM, AGENTMESH_SHOTS, CHROMIUM = '/usr/bin/chromium' } = process.env;
const PATIENCE = 30_000;

/** Why the browser tests cannot run, or false. */
export const unset = AGENTMESH_URL && AGENTMESH_NPM ? false : 'AGENTMESH_URL and AGENTMESH_NPM are not set';

export async function launch() {
  const { chromium } = createRequire(path.join(AGENTMESH_NPM, '/'))('playwright-core');
  return chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking'],
  });
}

export const byId = (id, more = '') => `[data-testid="${id}"]${more}`;

/** Asks until the answer is true; fails with what was waited for. */
export async function until(what, ask, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (Date.now() > end) assert.fail(`waited ${patience / 1000} s for: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** A page in its own browser context, with everything noted that must not happen. */
export class Visitor {
  static async open(browser, options = {}) {
    const context = await browser.newContext({ locale: 'zh-CN', viewport: { width: 1440, height: 900 }, ...options });
    const visitor = new Visitor(await context.newPage());
    await visitor.visit(AGENTMESH_URL);
    return visitor;
  }

  constructor(page) {
    this.page = page;
    this.faults = []; // errors of scripts, policy violations, dialogs, requests that leave the server
    this.requests = [];
    page.setDefaultTimeout(PATIENCE);
    page.on('pageerror', (err) => this.faults.push(`script error: ${err.stack || err.message}`));
    page.on('console', (message) => {
      if (message.type() === 'error') this.faults.push(`console: ${message.text()}`);
    });
    page.on('dialog', (dialog) => {
      this.faults.push(`dialog: ${dialog.message()}`);
      dialog.dismiss();
    });
    page.on('request', (request) => {
      this.requests.push(`${request.method()} ${new URL(request.url()).pathname}`);
      const there = new URL(request.url()).origin;
      if (request.url().startsWith('data:')) return;
      if (there !== new URL(AGENTMESH_URL).origin) this.faults.push(`request to ${request.url()}`);
    });
  }

  async visit(url) {
    const response = await this.page.goto(url);
    await this.at('message-input').waitFor();
    return response;
  }

  async reload() {
    await this.page.reload();
    await this.at('message-input').waitFor();
  }

  at(id, more) {
    return this.page.locator(byId(id, more));
  }

  /** Asks, and waits for the turn that this makes, not for one that was asked the same before. */
  async ask(text) {
    await this.at('chat-log', '[aria-busy="false"]').waitFor();
    const before = await this.at('turn').count();
    await this.at('message-input').fill(text);
    await this.at('message-input').press('Enter');
    await until(`a turn for ${text}`, async () => (await this.at('turn').count()) === before + 1);
    assert.ok((await this.at('user-message').last().innerText()).includes(text.split('\n')[0]));
  }

  turn() {
    return this.at('turn').last();
  }

  /** Waits for the end of the last turn, which must have the status wanted. */
  async settled(want = 'done') {
    await until('the turn to end', async () => !['running', 'interrupted'].includes(await this.turn().getAttribute('data-status')));
    assert.equal(await this.turn().getAttribute('data-status'), want, await this.turn().innerText());
    await this.at('send').waitFor();
  }

  /** All text of the last answer; it must be finished. */
  async answer() {
    await this.settled();
    const texts = this.turn().locator(byId('assistant-message'));
    const all = await texts.allInnerTexts();
    const text = all.join('\n').trim();
    assert.ok(text, 'the answer must not be empty');
    assert.equal(await texts.last().getAttribute('data-done'), 'true');
    return text;
  }

  tool(name) {
    return this.turn().locator(byId('tool-card', `[data-tool="${name}"]`));
  }

  card() {
    return this.turn().locator(byId('confirm-card'));
  }

  async openCard() {
    await this.turn().locator(byId('confirm-card', '[data-status="OPEN"]')).waitFor();
    return this.card();
  }

  async cardIs(status) {
    await until(`the card to be ${status}`, async () => (await this.card().getAttribute('data-status')) === status);
  }

  async newConversation() {
    await this.at('new-conversation').click();
    await this.at('welcome').waitFor();
  }

  /** Orders by REST: the server's truth, beside what the page shows. */
  async orders(status = 'CONFIRMED') {
    const response = await this.page.request.get(new URL('/api/v1/orders', AGENTMESH_URL).href);
    assert.equal(response.status(), 200);
    return (await response.json()).items.filter((order) => order.status === status);
  }

  sent(request) {
    return this.requests.filter((one) => request.test(one)).length;
  }

  /** Waits until what has happened is on the screen. */
  drawn() {
    return this.page.evaluate(() => new Promise((resolve) => { requestAnimationFrame(() => requestAnimationFrame(resolve)); }));
  }

  async otherLanguage() {
    await this.at('language').click();
    await this.drawn();
  }

  async shot(name) {
    if (!AGENTMESH_SHOTS) return;
    mkdirSync(AGENTMESH_SHOTS, { recursive: true });
    await this.drawn();
    await this.page.screenshot({ path: path.join(AGENTMESH_SHOTS, `${name}.png`), animations: 'disabled' });
  }

  /** Nothing may have gone wrong behind the scenes. */
  innocent() {
    assert.deepEqual(this.faults, []);
  }
}
