// A slow call goes on in the background: the card says so and can stop it, and the run that tells how it ended appears by itself.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { Visitor, byId, launch, unset, until } from './page.mjs';

const program = fileURLToPath(new URL('../../agentmesh', import.meta.url));

describe('a call in the background', { skip: unset, timeout: 120_000 }, () => {
  let browser;
  let child;
  let me;
  const data = mkdtempSync(path.join(tmpdir(), 'agentmesh-tasks-'));

  before(async () => {
    browser = await launch();
    const { AGENTMESH_API_KEYS, ...env } = process.env; // those of another server of these tests
    env.AGENTMESH_FAILPOINTS = 'catalog.commit.before=delay:5s';
    child = spawn(program, ['serve', '--listen', '127.0.0.1:0', '--data', data, '--offload-after', '1s'], { env });
    let said = '';
    child.stdout.on('data', (piece) => { said += piece; });
    const url = await until('the program to be ready', () => said.match(/^ *page *(http\S*)$/m)?.[1]);
    const context = await browser.newContext({ locale: 'zh-CN', viewport: { width: 1440, height: 900 } });
    me = new Visitor(await context.newPage());
    await me.visit(url);
  });
  after(async () => {
    await browser?.close();
    const gone = new Promise((resolve) => { child.once('exit', resolve); });
    child.kill('SIGTERM');
    await gone;
    rmSync(data, { recursive: true, force: true });
  });

  test('the order goes on, and its end comes into the open page', async () => {
    await me.ask('帮我订一份水煮牛肉。');
    await me.openCard();
    await me.at('confirm-accept').click();
    const first = me.at('turn').first();
    await first.locator(byId('tool-card', '[data-status="OFFLOADED"]')).waitFor();
    await first.locator(byId('task-stop')).waitFor();
    await me.settled();
    assert.match(await me.answer(), /后台/);
    await me.shot('task-in-the-background');
    await until('the run that tells', async () => (await me.at('turn').count()) === 2);
    assert.match(await me.answer(), /已下单/);
    await me.at('task-told').waitFor();
    await first.locator(byId('tool-card', '[data-tool="place_order"][data-status="SUCCEEDED"]')).waitFor();
    assert.equal(await first.locator(byId('task-stop')).count(), 0);
    await me.shot('task-told');
    await me.reload();
    await me.at('task-told').waitFor();
    await me.at('turn').first().locator(byId('tool-card', '[data-tool="place_order"][data-status="SUCCEEDED"]')).waitFor();
    assert.equal(await me.at('turn').count(), 2);
    assert.deepEqual(me.faults.filter((fault) => fault.startsWith('script error')), []);
  });

  test('stopped on its card', async () => {
    await me.newConversation();
    await me.ask('帮我订一份水煮牛肉。');
    await me.openCard();
    await me.at('confirm-accept').click();
    await me.at('task-stop').click();
    await until('the run that tells', async () => (await me.at('turn').count()) === 2);
    await me.settled();
    assert.notEqual(await me.at('turn').first().locator(byId('tool-card', '[data-tool="place_order"]')).getAttribute('data-status'), 'OFFLOADED');
    assert.equal(await me.at('task-stop').count(), 0);
  });
});
