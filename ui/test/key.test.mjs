// A server with keys asks for one, and takes the right one only. AGENTMESH_KEYED_URL is such a server;
// AGENTMESH_KEY is a person's key of it.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { byId, launch, unset, until } from './page.mjs';

const { AGENTMESH_KEYED_URL, AGENTMESH_KEY } = process.env;

describe('a server with keys', { skip: unset || (AGENTMESH_KEYED_URL ? false : 'AGENTMESH_KEYED_URL is not set'), timeout: 60_000 }, () => {
  let browser;
  before(async () => { browser = await launch(); });
  after(() => browser?.close());

  test('asks for the key, refuses a wrong one, takes the right one', async () => {
    const page = await (await browser.newContext({ locale: 'en-US' })).newPage();
    const violations = [];
    page.on('pageerror', (err) => violations.push(err.message));
    page.on('console', (m) => { if (/Content Security Policy/.test(m.text())) violations.push(m.text()); });
    await page.goto(AGENTMESH_KEYED_URL);
    const dialog = page.locator(byId('key-dialog'));
    await dialog.waitFor();
    assert.equal(await dialog.count(), 1, 'however many requests need a key, one dialog asks');
    await page.locator(byId('key-input')).fill('wrong');
    await page.keyboard.press('Enter');
    await until('the refusal', async () => /refused/.test(await dialog.innerText().catch(() => '')));
    await page.locator(byId('key-input')).fill(AGENTMESH_KEY);
    await page.keyboard.press('Enter');
    await until('the dialog to go', async () => (await dialog.count()) === 0);
    await page.locator(byId('message-input')).fill('What time is it?');
    await page.locator(byId('message-input')).press('Enter');
    await until('the answer', async () => /\d\d:\d\d/.test(await page.locator(byId('assistant-message')).last().innerText().catch(() => '')));
    assert.ok(!(await page.content()).includes(AGENTMESH_KEY), 'the key must not be in the page');
    assert.deepEqual(violations, []);
  });
});
