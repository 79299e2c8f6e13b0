// The real AG-UI clients drive POST /agui: 1.0.0, and 0.0.59, which CopilotKit still pins.
import assert from 'node:assert/strict';
import http from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, test } from 'node:test';

const { AGENTMESH_URL, AGENTMESH_HASTY_URL, AGENTMESH_DUMB_URL, AGENTMESH_NPM } = process.env;
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

    test('calls at once', async () => {
      const me = agentOf(name);
      await me.say('现在几点？上海今天天气怎么样？水煮牛肉多少钱？');
      me.isWhole(3);
    });

    test('a tool of the client, and its answer', async () => {
      const me = agentOf(name);
      const asked = await me.say('现在几点？paint_page {"colour":"red"}', painting);
      const [call] = me.unanswered();
      assert.equal(call.function.name, 'paint_page');
      assert.deepEqual(JSON.parse(call.function.arguments), { colour: 'red' });
      assert.deepEqual(asked.pending, name === 'agui-1' ? [call.id] : undefined, 'only a modern client is told what is left to it');
      const id = me.answer(call.id, 'it is red now');
      const done = await me.run(painting);
      assert.match(done.text, /it is red now/);
      me.isWhole(2);
      const message = me.agent.messages.find((m) => m.id === id);
      assert.equal(message?.content, 'it is red now', 'the client keeps its own message');
      const next = await me.say('现在几点？', painting);
      assert.match(next.text, /\d\d:\d\d/);
    });

    test('a tool of the client that nobody answers for', async () => {
      const me = agentOf(name);
      await me.say('paint_page {"colour":"red"}', painting);
      const [call] = me.unanswered();
      const next = await me.say('现在几点？', painting);
      assert.match(next.text, /\d\d:\d\d/);
      me.isWhole(2);
      me.answer(call.id, 'too late');
      const late = await me.run(painting);
      assert.equal(late.text, '', 'a late answer changes nothing');
      me.isWhole(2);
    });

    test('a question that nobody answers in time', async () => {
      const me = agentOf(name, AGENTMESH_HASTY_URL);
      await me.say('帮我订一份水煮牛肉。');
      const [open] = me.agent.pendingInterrupts;
      for (let tries = 0; (await me.get('/api/v1/confirmations')).items.length > 0 && tries < 100; tries++) await pause(100);
      const late = await me.run({ resume: [{ interruptId: open.id, status: 'resolved', payload: { approved: true } }] });
      assert.equal(me.agent.pendingInterrupts.length, 0);
      assert.ok(late.kinds.includes('RUN_FINISHED'));
      assert.equal(await me.orders(), 0);
      me.isWhole(1);
    });

    test('a model that cannot be reached', async () => {
      const me = agentOf(name, AGENTMESH_DUMB_URL);
      const seen = await me.say('现在几点？', { fails: true });
      assert.ok(seen.failed, 'the client hears of it');
      assert.equal(seen.kinds.at(-1), 'RUN_ERROR');
    });

    test('a run that is cancelled from elsewhere', async () => {
      const me = agentOf(name);
      const seen = await me.say('今天食堂有什么菜？', {
        fails: true,
        onTextMessageContentEvent: async () => {
          const { items } = await me.get(`/api/v1/runs?threadId=${me.agent.threadId}`);
          await me.post(`/api/v1/runs/${items[0].id}/cancel`, {});
        },
      });
      assert.equal(seen.kinds.at(-1), name === 'agui-1' ? 'RUN_FINISHED' : 'RUN_ERROR');
      assert.equal(seen.outcome, name === 'agui-1' ? 'cancelled' : undefined);
    });

    test('a stream that was cut, and shown again by /events', async () => {
      const me = agentOf(name);
      const cut = await cutting();
      me.agent.url = `${cut.url}/api/v1/runs`;
      await me.say('水煮牛肉多少钱，还有库存吗？', { fails: true });
      await cut.close();
      const { items: [run] } = await me.get(`/api/v1/runs?threadId=${me.agent.threadId}`);
      for (let tries = 0; (await me.get(`/api/v1/runs/${run.id}`)).status !== 'SUCCEEDED' && tries < 100; tries++) await pause(100);
      const again = agentOf(name);
      again.agent.url = `${AGENTMESH_URL}/api/v1/runs/${run.id}/events`;
      again.agent.requestInit = () => ({ method: 'GET', headers: { 'X-User-ID': `interop-${name}` } });
      const seen = await again.run();
      assert.match(seen.text, /32\.00/);
      assert.equal(seen.kinds.at(-1), 'RUN_FINISHED');
      again.isWhole(1);
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

const pause = (ms) => new Promise((resolve) => { setTimeout(resolve, ms); });

/** What a client with a tool of its own sends beside its messages. */
const painting = {
  tools: [{
    name: 'paint_page', description: 'Paints the page.',
    parameters: { type: 'object', properties: { colour: { type: 'string' } }, required: ['colour'] },
  }],
  context: [{ description: 'the colour of the page', value: 'white' }],
};

/** A way to the server that breaks within the first call of a tool. */
async function cutting() {
  const server = http.createServer((request, response) => {
    const onward = http.request(AGENTMESH_URL + request.url, { method: request.method, headers: { ...request.headers, host: new URL(AGENTMESH_URL).host } }, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.on('data', (data) => {
        if (!response.writableEnded) response.write(data);
        if (String(data).includes('TOOL_CALL')) { response.end(); onward.destroy(); }
      });
      answer.on('error', () => {});
      answer.on('end', () => response.end());
    });
    onward.on('error', () => {});
    request.pipe(onward);
  });
  await new Promise((resolve) => { server.listen(0, '127.0.0.1', resolve); });
  return { url: `http://127.0.0.1:${server.address().port}`, close: () => new Promise((resolve) => { server.close(resolve); server.closeAllConnections(); }) };
}

/** One client in one conversation of its own. What is asked beside a message, and what is heard, may be given together. */
function agentOf(name, server = AGENTMESH_URL) {
  const { HttpAgent, randomUUID } = load(name);
  const agent = new HttpAgent({ url: `${server}/agui`, threadId: randomUUID(), headers: { 'X-User-ID': `interop-${name}` } });
  const get = async (where) => (await fetch(server + where, { headers: { 'X-User-ID': `interop-${name}` } })).json();
  const post = (where, body) => fetch(server + where, {
    method: 'POST', headers: { 'X-User-ID': `interop-${name}`, 'Content-Type': 'application/json' }, body: JSON.stringify(body),
  });
  const run = async (parameters = {}, more = {}) => {
    const seen = { text: '', deltas: 0, custom: [], kinds: [], failed: '' };
    const broke = (error) => { if (!more.aborted && !more.fails) throw error; };
    await agent.runAgent(parameters, {
      ...more,
      onEvent: ({ event }) => { seen.kinds.push(event.type); },
      onRunFinishedEvent: ({ event }) => { seen.outcome = event.outcome?.type; seen.pending = event.outcome?.pendingToolCallIds; },
      onTextMessageContentEvent: (e) => { seen.text += e.event.delta; seen.deltas++; more.onTextMessageContentEvent?.(e); },
      onCustomEvent: ({ event }) => seen.custom.push(event.name),
      onRunErrorEvent: ({ event }) => { seen.failed = event.message; }, // runAgent itself resolves all the same
    }).catch(broke);
    if (!more.aborted && !more.fails) assert.equal(seen.failed, '');
    return seen;
  };
  const calls = () => agent.messages.flatMap((m) => m.toolCalls ?? []);
  const answered = () => agent.messages.filter((m) => m.role === 'tool').map((m) => m.toolCallId);
  return {
    agent, get, post, run,
    say(text, { tools, context, ...more } = {}) {
      agent.addMessage({ id: randomUUID(), role: 'user', content: text });
      return run({ tools, context }, more);
    },
    unanswered: () => calls().filter((c) => !answered().includes(c.id)),
    answer(toolCallId, content) {
      const id = randomUUID();
      agent.addMessage({ id, role: 'tool', toolCallId, content });
      return id;
    },
    /** Each of so many calls has arguments that were sent once, and one tool message; no id is there twice. */
    isWhole(count) {
      for (const c of calls()) assert.doesNotThrow(() => JSON.parse(c.function.arguments), 'arguments must not have been sent twice');
      assert.deepEqual(calls().map((c) => c.id).sort(), answered().sort(), 'each call has one tool message');
      assert.equal(calls().length, count);
      assert.equal(new Set(agent.messages.map((m) => m.id)).size, agent.messages.length);
    },
    async orders() {
      const { items } = await get('/api/v1/orders');
      return items.filter((o) => o.status === 'CONFIRMED').length;
    },
  };
}
