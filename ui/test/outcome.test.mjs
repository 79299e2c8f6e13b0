// Whether a call happened that a kill interrupted: asked on the page, answered after a reload. AGENTMESH_LETTERS is
// a program that can send letters (the binary of app's tests); it is started, killed and started again here.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, before, describe, test } from 'node:test';

const { AGENTMESH_LETTERS, AGENTMESH_NPM } = process.env;
const missing = AGENTMESH_LETTERS && AGENTMESH_NPM ? false : 'AGENTMESH_LETTERS and AGENTMESH_NPM are not set';

describe('what may have happened', { skip: missing, timeout: 120_000 }, () => {
  const folder = mkdtempSync(path.join(tmpdir(), 'letters-'));
  const hang = path.join(folder, 'hang');
  const letters = () => (existsSync(path.join(folder, 'letters')) ? readFileSync(path.join(folder, 'letters'), 'utf8').trim().split('\n').length : 0);
  let page; // page.mjs, which reads the address when it is loaded
  let browser;
  let model;
  let server;
  let me;

  before(async () => {
    model = await writer();
    server = await start(folder, model.address().port, '127.0.0.1:0');
    process.env.AGENTMESH_URL = server.url;
    page = await import('./page.mjs');
    browser = await page.launch();
  });
  after(async () => {
    await browser?.close();
    model?.close();
    server?.child.kill();
    rmSync(folder, { recursive: true, force: true });
  });

  /** Kills the server while a letter is under way, starts it again, and reads the page anew. */
  async function interrupted(options) {
    writeFileSync(hang, '');
    me = await page.Visitor.open(browser, options);
    const sent = letters();
    await me.ask('写信');
    await page.until('the letter', () => letters() === sent + 1);
    await me.page.goto('about:blank');
    const gone = new Promise((resolve) => { server.child.once('exit', resolve); });
    server.child.kill('SIGKILL');
    await gone;
    rmSync(hang);
    server = await start(folder, model.address().port, new URL(server.url).host);
    await me.visit(process.env.AGENTMESH_URL);
    await me.at('open-elsewhere').locator('button').click(); // the inbox knows it
    return me.openCard();
  }

  test('the card tells what is known; the three answers are there; one is given', async () => {
    const card = await interrupted();
    assert.match(await card.innerText(), /send_letter：发生了吗？[\s\S]*第 1 次执行[\s\S]*程序停止了[\s\S]*to\s+bob[\s\S]*就会发生两次/);
    assert.deepEqual(await card.locator('button').allInnerTexts(), ['已经发生', '没有发生', '再试一次']);
    await alike(card);
    assert.ok(await card.evaluate((el) => el.contains(document.activeElement)), 'the card must have the focus');
    await me.reload();
    await me.at('confirm-card', '[data-status="OPEN"]').waitFor();
    const { looksRight } = await import('./look.mjs');
    await looksRight(me, 'outcome-zh');
    const posts = me.sent(/^POST .*\/confirm$/);
    await card.locator(page.byId('outcome-happened')).dblclick();
    await me.cardIs('ANSWERED');
    assert.match(await me.answer(), /好了/);
    assert.equal(me.sent(/^POST .*\/confirm$/) - posts, 1, 'one click too many must not be sent');
    assert.match(await card.locator(page.byId('confirm-decision')).innerText(), /你说：已经发生/);
    assert.doesNotMatch(await card.innerText(), /local/);
    assert.equal(await me.tool('send_letter').locator(page.byId('tool-status')).innerText(), '按你说的', 'not a made-up time');
    assert.equal(await card.locator('button').count(), 0);
    assert.equal(letters(), 1);
    me.innocent();
  });

  test('that it did not happen is no failure', async () => {
    const card = await interrupted();
    await card.locator(page.byId('outcome-did_not_happen')).click();
    await me.cardIs('ANSWERED');
    await me.answer();
    const row = me.tool('send_letter');
    assert.equal(await row.locator(page.byId('tool-status')).innerText(), '按你说的');
    assert.equal(await row.locator('.mark-calm').count(), 1, 'no red cross');
    const { looksRight } = await import('./look.mjs');
    await looksRight(me, 'outcome-did-not-happen');
    me.innocent();
  });

  test('in English, on a phone: it is tried again', async () => {
    const card = await interrupted({ locale: 'en-GB', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, colorScheme: 'dark' });
    assert.match(await card.innerText(), /Did send_letter happen\?[\s\S]*Attempt 1[\s\S]*The program stopped/);
    const { looksRight } = await import('./look.mjs');
    await looksRight(me, 'outcome-phone-en');
    await alike(card);
    await card.locator(page.byId('outcome-try_again')).click();
    await me.cardIs('ANSWERED');
    await me.answer();
    assert.match(await card.innerText(), /You said: try again/);
    assert.equal(letters(), 4);
    me.innocent();
  });

  test('a model that refuses the key: the person is told so in their language', async () => {
    me = await page.Visitor.open(browser);
    await me.ask('钥匙');
    const why = me.turn().locator(page.byId('turn-error'));
    await why.waitFor();
    assert.match(await why.innerText(), /模型服务不接受这个密钥，请检查 LLM_API_KEY/);
    me.innocent();
  });
});

/** None of the answers may look as if it were the usual one. */
async function alike(card) {
  const sizes = await card.locator('button').evaluateAll((all) => all.map((one) => [one.offsetWidth, one.offsetHeight].join('×')));
  assert.equal(new Set(sizes).size, 1, `the answers must be of one size: ${sizes}`);
}

/** Starts the program, and gives it with its address. */
async function start(folder, port, listen) {
  const child = spawn(AGENTMESH_LETTERS, ['serve', '--listen', listen, '--data', path.join(folder, 'data')], {
    env: {
      PATH: process.env.PATH, AGENTMESH_TEST_MAIN: '1', AGENTMESH_TEST_LETTERBOX: folder,
      LLM_BASE_URL: `http://127.0.0.1:${port}/v1`, LLM_MODEL: 'writer',
    },
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  for await (const line of createInterface({ input: child.stdout })) {
    const found = /page +(http:\S+)\//.exec(line);
    if (found) return { child, url: found[1] };
  }
  throw new Error('the program did not start');
}

/** A model that sends one letter for each message, and then says that it is done. */
function writer() {
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const piece of request) body += piece;
    if (request.method !== 'POST') return response.end('{"data":[]}');
    const last = JSON.parse(body).messages.at(-1);
    if (String(last.content).includes('钥匙')) {
      response.writeHead(401, { 'Content-Type': 'application/json' });
      return response.end('{"error":{"message":"Incorrect API key provided"}}');
    }
    const delta = last.role === 'tool'
      ? { content: '好了。' }
      : { tool_calls: [{ index: 0, id: `call-${Date.now()}`, type: 'function', function: { name: 'send_letter', arguments: '{"to":"bob"}' } }] };
    const chunk = (choice) => `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', model: 'writer', choices: [{ index: 0, ...choice }] })}\n\n`;
    response.writeHead(200, { 'Content-Type': 'text/event-stream' });
    response.end(`${chunk({ delta })}${chunk({ delta: {}, finish_reason: last.role === 'tool' ? 'stop' : 'tool_calls' })}data: [DONE]\n\n`);
    return undefined;
  });
  return new Promise((resolve) => { server.listen(0, '127.0.0.1', () => resolve(server)); });
}
