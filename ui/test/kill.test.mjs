// The program is killed under an open page and started again: the page shows the right end by itself.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Visitor, byId, launch, unset, until } from './page.mjs';

const program = fileURLToPath(new URL('../../agentmesh', import.meta.url));

/** A program of the test's own, on one address for all its lives. */
class Program {
  static async start() {
    const p = new Program();
    p.data = mkdtempSync(path.join(tmpdir(), 'agentmesh-kill-'));
    p.port = await new Promise((resolve) => {
      const s = createServer().listen(0, '127.0.0.1', () => {
        const { port } = s.address();
        s.close(() => resolve(port));
      });
    });
    p.url = `http://127.0.0.1:${p.port}/`;
    await p.live();
    return p;
  }

  async live() {
    const { AGENTMESH_API_KEYS, ...env } = process.env; // those of another server of these tests
    this.child = spawn(program, ['serve', '--listen', `127.0.0.1:${this.port}`, '--data', this.data], { stdio: 'ignore', env });
    await until('the program to be ready', () => fetch(`${this.url}readyz`).then((r) => r.ok, () => false));
  }

  async kill(signal = 'SIGKILL') {
    const gone = new Promise((resolve) => { this.child.once('exit', resolve); });
    this.child.kill(signal);
    await gone;
  }

  async read(where) {
    const response = await fetch(new URL(`/api/v1/${where}`, this.url));
    assert.equal(response.status, 200, where);
    return response.json();
  }
}

describe('a program that is killed under the page', { skip: unset, timeout: 180_000 }, () => {
  let browser;
  let mesh;
  let me;

  before(async () => {
    browser = await launch();
    mesh = await Program.start();
    const context = await browser.newContext({ locale: 'zh-CN', viewport: { width: 1440, height: 900 } });
    me = new Visitor(await context.newPage());
    await me.visit(mesh.url);
  });
  after(async () => {
    await browser?.close();
    await mesh?.kill('SIGTERM');
    rmSync(mesh.data, { recursive: true, force: true });
  });

  /** The page shows the stored answer of its last run, once, and so it does after a reload. */
  async function showsWhatIsStored() {
    const [run] = (await mesh.read('runs?limit=1')).items;
    assert.equal(run.status, 'SUCCEEDED');
    const { items } = await mesh.read(`conversations/${run.threadId}/messages?limit=200`);
    const answers = items.filter((m) => m.runId === run.id && m.role === 'assistant' && m.content);
    assert.equal(answers.length, 1);
    const plain = (text) => text.replace(/[\s*_`#|-]/g, '');
    await me.answer();
    const shown = plain(await me.turn().locator(byId('assistant-message')).last().innerText());
    assert.equal(shown, plain(answers[0].content), 'the answer whole, and nothing of the one that was cut off in it');
    await me.reload();
    await until('the answer after the reload', async () => plain(await me.turn().innerText()).includes(shown));
    assert.deepEqual(me.faults.filter((fault) => fault.startsWith('script error')), []);
  }

  test('during the answer: the rest comes, nothing is there twice', async () => {
    await me.ask('今天食堂有什么菜？');
    const text = me.turn().locator(byId('assistant-message')).last();
    await until('the beginning of the answer', async () => (await text.innerText().catch(() => '')).length > 20);
    await mesh.kill();
    assert.notEqual(await me.turn().getAttribute('data-status'), 'done');
    await mesh.live();
    await me.settled();
    await showsWhatIsStored();
  });

  test('during the confirmation: the card is still open, and a yes orders once', async () => {
    await me.newConversation();
    await me.ask('帮我订一份水煮牛肉。');
    await me.openCard();
    await mesh.kill();
    await mesh.live();
    const card = await me.openCard();
    // The button may be met while the page finds out that the program is back; what counts is what is ordered.
    await until('the yes to be taken', async () => {
      if (await card.getAttribute('data-status') === 'CONFIRMED') return true;
      await card.locator(byId('confirm-accept')).click({ timeout: 500 }).catch(() => {}); // it may be gone by now
      return false;
    });
    await me.settled();
    const orders = (await mesh.read('orders')).items;
    assert.deepEqual(orders.map((o) => [o.status, o.totalFen]), [['CONFIRMED', 3200]]);
    await showsWhatIsStored();
  });

  test('after the yes, at once: whatever had happened, one order and the right end', async () => {
    await me.newConversation();
    await me.ask('帮我订一份米饭。');
    const card = await me.openCard();
    await card.locator(byId('confirm-accept')).click();
    await mesh.kill();
    await mesh.live();
    await until('the order or the open card', async () => {
      const [newest] = (await mesh.read('orders')).items;
      if (newest.status === 'CONFIRMED') return true;
      await card.locator(byId('confirm-accept')).click({ timeout: 500 }).catch(() => {}); // it may be gone by now
      return false;
    });
    await me.settled();
    await me.cardIs('CONFIRMED');
    assert.deepEqual((await mesh.read('orders')).items.map((o) => [o.status, o.totalFen]), [['CONFIRMED', 200], ['CONFIRMED', 3200]]);
    await showsWhatIsStored();
  });
});
