// A run: how it stands, who took the time, what it called, its raw events. It needs GET /api/v1/traces/{traceId}; only
// what a healthy server does not say in good time (a failed span, an open one, a missing module) is said here instead.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { looks, looksRight } from './look.mjs';
import { Visitor, byId, launch, unset, until } from './page.mjs';

const USER = { extraHTTPHeaders: { 'X-User-ID': `timeline-${process.pid}` } };

describe('a run and its timeline', { skip: unset, timeout: 300_000 }, () => {
  let browser;
  let me;
  let run; // the order that was confirmed

  before(async () => {
    browser = await launch();
    me = await visitor(browser);
    await me.ask('今天上海天气怎么样，食堂有什么适合我的菜？如果有水煮牛肉，再帮我订一份。');
    await (await me.openCard()).locator(byId('confirm-accept')).click();
    await me.answer();
    const [order] = await me.orders();
    run = order.runId;
  });
  after(() => browser?.close());

  test('is opened from the message, the order and the audit', async () => {
    assert.equal(await me.turn().locator(byId('run-link')).getAttribute('href'), `#/runs/${run}`);
    await me.turn().locator(byId('run-link')).click();
    await me.at('run-asked').waitFor();
    assert.match(await me.at('run-asked').innerText(), /水煮牛肉/);
    await me.at('nav-orders').click();
    await me.at('order-run').first().click();
    await me.at('run-status').waitFor();
    await me.at('run-audit').click();
    await me.at('record-run').first().click();
    await me.at('run-status').waitFor();
    assert.equal(new URL(me.page.url()).hash, `#/runs/${run}`);
    me.innocent();
  });

  test('says how it ended, what it cost, what was offered and called', async () => {
    await openRun(me, run);
    assert.match(await me.at('run-status').innerText(), /完成/);
    assert.match(await me.at('run-finish').innerText(), /回答完毕/);
    assert.match(await me.at('run-tokens').innerText(), /输入 [\d,]+ · 输出 \d+/);
    assert.match(await me.at('run-tools').innerText(), /提交订单\s*用过/);
    const called = me.page.locator(byId('run-calls')).locator(byId('tool-card'));
    assert.ok(await called.count() >= 5);
    assert.equal(await me.at('run-model-calls').locator('li').count(), (await stored(me, run)).modelCalls.length);
    await me.at('run-thread').click();
    await me.at('chat-log').waitFor();
    me.innocent();
  });

  test('who took the time, as the server says', async () => {
    await openRun(me, run);
    await me.at('span').first().waitFor();
    const { traceId } = await stored(me, run);
    const said = await (await me.page.request.get(new URL(`/api/v1/traces/${traceId}`, process.env.AGENTMESH_URL).href)).json();
    assert.equal(await me.at('span').count(), said.spans.length);
    assert.equal(await me.at('timeline-missing').count(), 0);
    const names = await me.at('waterfall').innerText();
    for (const one of ['invoke_agent agentmesh', '查询天气', 'forward to weather', 'invoke_agent Food Agent', '预留库存', '等你决定']) {
      assert.ok(names.includes(one), `the waterfall lacks ${one}:\n${names}`);
    }
    const shares = await me.at('took').locator('li').allInnerTexts();
    assert.equal(shares.length, Object.values(said.took).filter((ms) => ms > 0).length);
    const percents = shares.map((text) => Number(/(\d+)%/.exec(text)[1]));
    assert.ok(Math.abs(percents.reduce((all, one) => all + one) - 100) <= 3, `shares of the whole: ${shares}`);
    assert.match(await me.at('took-person').innerText(), /等你决定/);
    me.innocent();
  });

  test('the waterfall: where bars begin, how long they are, what is inside what', async () => {
    const told = await visitor(browser, {}, { json: trace(run, Date.now()) });
    await openRun(told, run);
    await waterfall(told);
    told.innocent();
    await told.page.context().close();
  });

  test('durations are told in the two largest units, in words of the language', async () => {
    const told = (times) => me.page.evaluate(async (all) => {
      const { duration } = await import('/static/format.js');
      return all.map(duration);
    }, times);
    const times = [0.4, 999.6, 59_960, 107_000, 3_600_000, 86_399_000, 17_280_347_000];
    assert.deepEqual(await told(times), ['<1 毫秒', '1.0 秒', '1 分', '1 分 47 秒', '1 小时', '1 天', '200 天']);
    await me.otherLanguage();
    assert.deepEqual(await told([12, 107_000, 9_000_000, 100_000_000]), ['12 ms', '1 min 47 s', '2 h 30 min', '1 d 4 h']);
    await me.otherLanguage();
  });

  test('the times on the axis of a run that waited for days do not lie on each other', async () => {
    const days = trace(run, Date.now());
    const told = await visitor(browser, { viewport: { width: 390, height: 844 } }, { json: { ...days, durationMs: 17_280_347_000 } });
    await openRun(told, run);
    await told.at('span').first().waitFor();
    const boxes = await told.page.locator('.axis-ticks span').evaluateAll((all) => all.map((one) => one.getBoundingClientRect()).map(({ left, right }) => [left, right]));
    boxes.slice(1).forEach(([left], i) => assert.ok(left > boxes[i][1] + 4, `times at ${JSON.stringify(boxes)}`));
    await told.shot('run-days-phone');
    await told.page.context().close();
  });

  test('says when the timeline is not there, or not whole', async () => {
    const other = await visitor(browser, {}, { status: 404, json: { title: 'Not Found', status: 404, code: 'not_found' } });
    await openRun(other, run);
    await until('the word', async () => /没有这次运行的时间线/.test(await other.at('timeline-none').innerText().catch(() => '')));
    assert.match(await other.at('run-status').innerText(), /完成/, 'the rest is shown all the same');
    assert.deepEqual(other.faults.filter((fault) => !/404/.test(fault)), []);
    await other.page.context().close();

    const partly = await visitor(browser, {}, { json: { ...trace(run, Date.now()), missing: ['food', 'mcp'] } });
    await openRun(partly, run);
    await partly.at('timeline-missing').waitFor();
    assert.match(await partly.at('timeline-missing').innerText(), /食堂智能体、菜品目录/);
    partly.innocent();
    await partly.page.context().close();
  });

  test('the raw events: all of them, by type, and where they come from', async () => {
    await openRun(me, run);
    await me.at('events').locator('summary').first().click();
    await until('the events', async () => /RUN_FINISHED/.test(await me.at('events').innerText()));
    await me.at('events-type').selectOption('TOOL_CALL_START');
    const rows = me.at('events').locator('.event-list li');
    assert.equal(await rows.count(), (await stored(me, run)).invocations.length);
    await rows.first().locator('summary').click();
    assert.match(await rows.first().innerText(), /"toolCallName"/);
    const raw = await me.at('events-raw').getAttribute('href');
    assert.equal(raw, `/api/v1/runs/${run}/events`);
    const answer = await me.page.request.get(new URL(raw, process.env.AGENTMESH_URL).href);
    assert.match(await answer.text(), /RUN_FINISHED/);
    me.innocent();
  });

  test('events that are no longer kept are said to be so, and the rest is shown', async () => {
    const other = await visitor(browser);
    await other.page.route('**/events', (route) => route.fulfill({
      status: 410, contentType: 'application/problem+json', json: { code: 'gone', detail: 'the events of this run are no longer kept' },
    }));
    await openRun(other, run);
    await other.at('events').locator('summary').first().click();
    await until('the word', async () => /已过保留期/.test(await other.at('events-gone').innerText().catch(() => '')));
    assert.match(await other.at('run-status').innerText(), /完成/);
    assert.deepEqual(other.faults.filter((fault) => !/410/.test(fault)), []);
    await other.page.context().close();
  });

  test('what the model was given is said to be gone; the title is that of the conversation', async () => {
    const other = await visitor(browser);
    const whole = await stored(me, run);
    const modelCalls = whole.modelCalls.map(({ request, ...kept }) => kept);
    await other.page.route(`**/api/v1/runs/${run}`, (route) => route.fulfill({ json: { ...whole, modelCalls } }));
    await openRun(other, run);
    assert.match(await other.at('run-asked').innerText(), /上海/);
    await other.at('run-model-calls').locator('summary').first().click();
    await until('the word', async () => /不再保存/.test(await other.at('run-model-calls').innerText()));
    assert.equal(await other.at('run-model-calls').locator('pre').count(), 0, 'no empty box');
    other.innocent();
    await other.page.context().close();
  });

  test('a run that waits is followed to its end', async () => {
    const other = await visitor(browser);
    await other.ask('帮我订一份水煮牛肉。');
    await other.openCard();
    await other.turn().locator(byId('run-link')).click();
    await until('waiting', async () => /等待你确认/.test(await other.at('run-status').innerText().catch(() => '')));
    const id = new URL(other.page.url()).hash.split('/').pop();
    const told = await other.page.request.post(new URL(`/api/v1/runs/${id}/reject`, process.env.AGENTMESH_URL).href, { data: {} });
    assert.equal(told.status(), 200);
    await until('the end', async () => /完成/.test(await other.at('run-status').innerText()));
    other.innocent();
    await other.page.context().close();
  });

  test('a run that is not there', async () => {
    const other = await visitor(browser);
    await other.page.goto(new URL('/#/runs/run-none', process.env.AGENTMESH_URL).href);
    await other.at('run-gone').waitFor();
    await other.page.route('**/api/v1/runs/run-other', (route) => route.fulfill({ status: 503, json: { detail: 'not now' } }));
    await other.page.goto(new URL('/#/runs/run-other', process.env.AGENTMESH_URL).href);
    assert.match(await other.at('run-error').innerText(), /not now/);
    assert.deepEqual(other.faults.filter((fault) => !/404|503/.test(fault)), []);
    await other.page.context().close();
  });

  for (const look of looks) {
    test(`${look.name}: the run fits and can be read`, async () => {
      const one = await visitor(browser, look.options);
      await openRun(one, run);
      await one.at('span').first().waitFor();
      await one.at('span', '[data-kind="tool"]').first().locator('summary').click();
      await looksRight(one, `run-${look.name}`);
      await one.at('events').locator('summary').first().click();
      await until('the events', async () => /RUN_FINISHED/.test(await one.at('events').innerText()));
      await one.at('events').scrollIntoViewIfNeeded();
      await looksRight(one, `run-events-${look.name}`);
      one.innocent();
      await one.page.context().close();
    });
  }
});

async function waterfall(me) {
  await me.at('span').first().waitFor();
  const spans = me.at('span');
    assert.equal(await spans.count(), trace('', 0).spans.length);
    assert.match(await me.at('took-person').innerText(), /等你决定\s+2\.0 秒\s+50%/);
    assert.match(await me.at('took-mcp').innerText(), /400 毫秒\s+10%/);

    const root = await spans.first().locator('.span-track').boundingBox();
    const person = await me.at('span', '[data-kind="person"]').locator('.span-bar').boundingBox();
    assert.ok(Math.abs((person.x - root.x) / root.width - 0.25) < 0.01, 'a bar begins where its time does');
    assert.ok(Math.abs(person.width / root.width - 0.5) < 0.01, 'and is as long as it took');
    const open = await me.at('span', '[data-status="open"]').locator('.span-bar').boundingBox();
    assert.ok(Math.abs(open.x + open.width - root.x - root.width) < 2, 'what is still open goes to the end');
    const indent = (kind) => me.at('span', `[data-kind="${kind}"]`).first().locator('.span-name').evaluate((el) => parseFloat(getComputedStyle(el).paddingLeft));
    assert.ok(await indent('run') < await indent('model') && await indent('tool') < await indent('agent'), 'what is inside is indented');
    await me.at('span', '[data-kind="tool"]').first().locator('summary').click();
    assert.match(await me.at('span', '[data-kind="tool"]').first().locator('.facts').innerText(), /gen_ai\.tool\.name[\s\S]*call_weather/);
}

/** @param answer given in place of the trace */
async function visitor(browser, options = {}, answer = null) {
  const one = await Visitor.open(browser, { ...USER, ...options });
  if (answer) await one.page.route('**/api/v1/traces/*', (route) => route.fulfill(answer));
  return one;
}

async function openRun(me, run) {
  await me.page.goto(new URL(`/#/runs/${run}`, process.env.AGENTMESH_URL).href);
  await me.at('run-status').waitFor();
}

async function stored(me, run) {
  return (await me.page.request.get(new URL(`/api/v1/runs/${run}`, process.env.AGENTMESH_URL).href)).json();
}

/** A trace of 4 s: a second of work, two of waiting, and the rest. */
function trace(run, at) {
  const start = at - 4000;
  let n = 0;
  const span = (depth, module, kind, name, from, durationMs, more = {}) => ({
    spanId: (++n).toString(16).padStart(16, '0'), parentId: depth ? '0000000000000001' : '', module, kind, name, depth,
    startedAt: new Date(start + from).toISOString(), durationMs, status: 'ok', attributes: {}, ...more,
  });
  const tool = (name) => ({ attributes: { 'gen_ai.tool.name': name, 'agentmesh.stage': 'receipt' } });
  return {
    traceId: 'f'.repeat(32), runs: [run], startedAt: new Date(start).toISOString(), durationMs: 4000, missing: [],
    took: { modelMs: 900, mcpMs: 400, agentMs: 600, personMs: 2000, ownMs: 100 },
    spans: [
      span(0, 'orchestrator', 'run', 'run', 0, 4000),
      span(1, 'orchestrator', 'model', 'chat demo', 10, 500, { attributes: { 'gen_ai.request.model': 'demo', 'gen_ai.usage.input_tokens': 1503 } }),
      span(1, 'orchestrator', 'tool', 'execute_tool call_weather', 520, 300, tool('call_weather')),
      span(2, 'orchestrator', 'agent', 'A2A weather', 525, 290),
      span(3, 'gateway', 'server', 'POST /a2a/agents/weather', 530, 280),
      span(4, 'weather', 'server', 'message/send', 535, 270),
      span(1, 'orchestrator', 'tool', 'execute_tool list_menu_by_day', 520, 200, { ...tool('list_menu_by_day'), status: 'error' }),
      span(2, 'orchestrator', 'mcp', 'tools/call list_menu_by_day', 530, 180),
      span(3, 'mcp', 'server', 'tools/call list_menu_by_day', 532, 1),
      span(1, 'orchestrator', 'person', 'confirmation', 1000, 2000),
      span(1, 'orchestrator', 'tool', 'execute_tool place_order', 3010, 400, tool('place_order')),
      span(2, 'food', 'server', 'message/send', 3050, 340),
      span(1, 'orchestrator', 'model', 'chat demo', 3500, 0, { status: 'open' }),
    ],
  };
}
