// The real AG-UI clients drive POST /agui: 1.0.0, and 0.0.59, which CopilotKit still pins.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, test } from 'node:test';

const { AGENTMESH_URL, AGENTMESH_NPM } = process.env;
const unset = AGENTMESH_URL && AGENTMESH_NPM ? false : 'AGENTMESH_URL and AGENTMESH_NPM are not set';
const load = (name) => createRequire(path.join(AGENTMESH_NPM, '/'))(name);

for (const name of ['agui-1', 'agui-0']) {
  describe(`@ag-ui/client as ${name}`, { skip: unset, timeout: 120_000 }, () => {
    test('a plain answer, streamed', async () => {
      const me = agentOf(name);
      const seen = await me.say('水煮牛肉多少钱，还有库存吗？');
      assert.match(seen.text, /32\.00/);
      assert.ok(seen.deltas > 1, `the answer came in ${seen.deltas} pieces`);
      assert.deepEqual(me.agent.messages.map((m) => m.role), ['user', 'assistant', 'tool', 'assistant']);
      assert.equal(new Set(me.agent.messages.map((m) => m.id)).size, 4, 'ids must be the same in stream and snapshot');
    });

    test('an order by interrupt and resume: yes', async () => {
      const me = agentOf(name);
      const before = await me.orders();
      const asked = await me.say('帮我订一份水煮牛肉。');
      const [open] = me.agent.pendingInterrupts;
      assert.equal(open.reason, 'tool_call');
      assert.ok(asked.custom.includes('tool_confirmation_required'));
      assert.equal(await me.orders(), before, 'nothing may be ordered before the yes');
      const done = await me.run({ resume: [{ interruptId: open.id, status: 'resolved', payload: { approved: true } }] });
      assert.match(done.text, /order-[0-9a-f]+/);
      assert.equal(await me.orders(), before + 1);
      assert.equal(me.agent.pendingInterrupts.length, 0);
      const calls = me.agent.messages.flatMap((m) => m.toolCalls ?? []);
      assert.equal(calls.length, 1);
      assert.doesNotThrow(() => JSON.parse(calls[0].function.arguments), 'the arguments must not have been sent twice');
      assert.equal(me.agent.messages.filter((m) => m.role === 'tool').length, 1);
    });

    test('an order by interrupt and resume: yes, but two portions', async () => {
      const me = agentOf(name);
      const before = await stock('food-035'); // no other test orders it
      await me.say('帮我订一份水果拼盘。');
      const [open] = me.agent.pendingInterrupts;
      const { editedArgs } = open.responseSchema.properties;
      assert.equal(editedArgs.properties.items.items.properties.quantity.type, 'integer', 'the schema is that of the arguments');
      const answer = (quantity) => me.run({
        resume: [{ interruptId: open.id, status: 'resolved', payload: { approved: true, editedArgs: { items: [{ dish: '水果拼盘', quantity }] } } }],
      });
      await answer(0);
      assert.equal(me.agent.pendingInterrupts[0].id, open.id, 'an edit that cannot be leaves the question');
      assert.match(me.agent.pendingInterrupts[0].message, /quantity/);
      const done = await answer(2);
      assert.match(done.text, /24\.00/);
      assert.equal(me.agent.pendingInterrupts.length, 0);
      assert.equal(await stock('food-035'), before - 2);
      const [newest] = (await me.get('/api/v1/orders')).items;
      assert.deepEqual([newest.status, newest.total], ['CONFIRMED', '24.00']);
      const [call] = me.agent.messages.flatMap((m) => m.toolCalls ?? []);
      assert.equal(JSON.parse(call.function.arguments).items[0].quantity, 2, 'the client holds what ran');
      assert.equal(me.agent.messages.filter((m) => m.role === 'tool').length, 1);
    });

    test('an order by interrupt and resume: nobody answered', async () => {
      const me = agentOf(name);
      const before = await me.orders();
      await me.say('帮我订一份水煮牛肉。');
      const [open] = me.agent.pendingInterrupts;
      const done = await me.run({ resume: [{ interruptId: open.id, status: 'cancelled' }] });
      assert.ok(done.text, 'a cancel gets a polite answer');
      assert.equal(await me.orders(), before);
    });

    test('an abort of a resume leaves one order', async () => {
      const me = agentOf(name);
      const before = await me.orders();
      await me.say('帮我订一份水煮牛肉。');
      const [open] = me.agent.pendingInterrupts;
      let decided;
      const began = new Promise((resolve) => { decided = resolve; });
      const resume = [{ interruptId: open.id, status: 'resolved', payload: { approved: true, editedArgs: { items: [{ dish: 'food-001', quantity: 2 }] } } }];
      const running = me.run({ resume }, { aborted: true, onToolCallResultEvent: () => decided() }).catch(() => {});
      await began;
      me.agent.abortRun();
      await running;
      assert.equal(await me.orders(), before + 1);
      assert.equal((await me.get('/api/v1/orders')).items[0].total, '64.00');
    });

    test('an order by interrupt and resume: no', async () => {
      const me = agentOf(name);
      const before = await me.orders();
      await me.say('Order one Sichuan boiled beef, please.');
      const [open] = me.agent.pendingInterrupts;
      const done = await me.run({ resume: [{ interruptId: open.id, status: 'resolved', payload: { approved: false } }] });
      assert.ok(done.text, 'a no gets a polite answer');
      assert.equal(await me.orders(), before);
      const next = await me.say('现在几点？');
      assert.match(next.text, /\d\d:\d\d/);
    });

    test('an abort cancels the run', async () => {
      const me = agentOf(name);
      let first;
      const began = new Promise((resolve) => { first = resolve; });
      const running = me.say('今天食堂有什么菜？', { aborted: true, onTextMessageContentEvent: () => first() }).catch(() => {});
      await began;
      me.agent.abortRun();
      await running;
      const runs = await me.get(`/api/v1/runs?threadId=${me.agent.threadId}`);
      assert.equal(runs.items.length, 1);
    });
  });
}

/** A dish's stock, as the catalog's own endpoint tells it. */
async function stock(id) {
  const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
  const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
  const client = new Client({ name: 'interop', version: '1' });
  await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', AGENTMESH_URL)));
  try {
    return (await client.callTool({ name: 'get_food_item', arguments: { id } })).structuredContent.stock;
  } finally {
    await client.close();
  }
}

/** One client in one conversation of its own. */
function agentOf(name) {
  const { HttpAgent, randomUUID } = load(name);
  const agent = new HttpAgent({ url: `${AGENTMESH_URL}/agui`, threadId: randomUUID(), headers: { 'X-User-ID': `interop-${name}` } });
  const get = async (where) => (await fetch(AGENTMESH_URL + where, { headers: { 'X-User-ID': `interop-${name}` } })).json();
  const run = async (parameters, more = {}) => {
    const seen = { text: '', deltas: 0, custom: [], failed: '' };
    await agent.runAgent(parameters, {
      ...more,
      onTextMessageContentEvent: (e) => { seen.text += e.event.delta; seen.deltas++; more.onTextMessageContentEvent?.(e); },
      onCustomEvent: ({ event }) => seen.custom.push(event.name),
      onRunErrorEvent: ({ event }) => { seen.failed = event.message; }, // runAgent itself resolves all the same
    });
    if (!more.aborted) assert.equal(seen.failed, '');
    return seen;
  };
  return {
    agent, get, run,
    say(text, more) {
      agent.addMessage({ id: randomUUID(), role: 'user', content: text });
      return run({}, more);
    },
    async orders() {
      const { items } = await get('/api/v1/orders');
      return items.filter((o) => o.status === 'CONFIRMED').length;
    },
  };
}
