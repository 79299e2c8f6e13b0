// The real core of CopilotKit drives /copilotkit, with no other server: it is told nothing but the URL.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import path from 'node:path';
import { describe, test } from 'node:test';

const { AGENTMESH_URL, AGENTMESH_NPM } = process.env;
const unset = AGENTMESH_URL && AGENTMESH_NPM ? false : 'AGENTMESH_URL and AGENTMESH_NPM are not set';
globalThis.window ??= { location: new URL(AGENTMESH_URL ?? 'http://localhost') }; // without one it takes itself to be rendered on a server
const load = (name) => createRequire(path.join(AGENTMESH_NPM, '/'))(name);

describe('@copilotkit/core', { skip: unset, timeout: 120_000 }, () => {
  test('info: one agent, by REST, with what it can do', async () => {
    const page = await open('copilot-info', 'info');
    assert.deepEqual(Object.keys(page.core.agents), ['default']);
    assert.equal(page.core.runtimeTransport, 'rest');
    assert.equal(page.core.runtimeMode, 'sse');
    const can = await page.agent.getCapabilities();
    assert.deepEqual([can.humanInTheLoop.interrupts, can.humanInTheLoop.approveWithEdits], [true, true]);
    assert.ok(can.tools.items.some((t) => t.name === 'place_order'));
    assert.ok(can.multiAgent.subagents.some((a) => a.name === 'food'));
  });

  test('a plain answer, streamed', async () => {
    const page = await open('copilot-plain', crypto.randomUUID());
    await page.say('水煮牛肉多少钱，还有库存吗？');
    assert.match(page.seen.text, /32\.00/);
    assert.ok(page.seen.deltas > 1, `the answer came in ${page.seen.deltas} pieces`);
    assert.deepEqual(page.roles(), ['user', 'assistant', 'tool', 'assistant']);
    const reloaded = await open('copilot-plain', page.agent.threadId);
    assert.deepEqual(reloaded.agent.messages, page.agent.messages, 'a reload must show what was there');
  });

  const edited = { approved: true, editedArgs: { items: [{ dish: 'food-001', quantity: 2 }] } };
  for (const [name, payload, status] of [['yes', { approved: true }, 'CONFIRMED'], ['no', { approved: false }, 'REJECTED'], ['edited', edited, 'CONFIRMED']]) {
    test(`an order, its question after a reload, and the answer ${name}`, async () => {
      const user = `copilot-${name}`;
      const before = await open(user, crypto.randomUUID());
      await before.say('帮我订一份水煮牛肉。');
      const [asked] = before.pending.pending.interrupts;
      assert.equal(asked.reason, 'tool_call');
      assert.deepEqual(await before.orders(), ['PLACING']);

      const page = await open(user, before.agent.threadId);
      const [again] = page.pending.pending.interrupts;
      assert.equal(again.id, asked.id, 'the question must be shown again');
      assert.ok(page.seen.custom.includes('tool_confirmation_required'));
      await page.answer(payload);
      assert.equal(page.pending.pending, null);
      assert.deepEqual(await page.orders(), [status]);
      assert.ok(page.seen.text, 'the run must go on to an answer');
      if (payload.editedArgs) assert.match(page.seen.text, /64\.00/);
      page.isWhole();
      const last = await open(user, before.agent.threadId);
      assert.equal(last.pending.pending, null);
      assert.deepEqual(last.agent.messages, page.agent.messages);
    });
  }

  test('an answer without a reload comes under the label of the run that asked', async () => {
    const page = await open('copilot-same', crypto.randomUUID());
    await page.say('Order one Sichuan boiled beef, please.');
    const label = page.seen.runs.at(-1);
    await page.answer({ approved: true });
    assert.equal(page.seen.runs.at(-1), label);
    assert.deepEqual(await page.orders(), ['CONFIRMED']);
    page.isWhole();
    await page.say('谢谢');
    assert.equal(page.roles().at(-1), 'assistant', 'the conversation must go on');
  });

  test('a page that is reloaded in the middle of an answer sees all of it, once', async () => {
    const page = await open('copilot-join', crypto.randomUUID());
    const running = page.say('今天食堂有什么菜？');
    await page.first;
    const joined = await open('copilot-join', page.agent.threadId);
    await running;
    assert.equal(joined.agent.messages.at(-1).content, page.agent.messages.at(-1).content);
    assert.deepEqual(joined.agent.messages, page.agent.messages);
    assert.equal(joined.seen.text, page.seen.text);
  });

  test('stop cancels the run at the server', async () => {
    const page = await open('copilot-stop', crypto.randomUUID());
    const running = page.say('今天食堂有什么菜？上海明天天气怎么样？', { cancelled: true });
    await page.first;
    page.core.stopAgent({ agent: page.agent });
    await running;
    const { items } = await page.get(`/api/v1/runs?threadId=${page.agent.threadId}`);
    assert.deepEqual(items.map((r) => [r.status, r.finishReason]), [['CANCELLED', 'cancelled_by_user']]);
  });

  test('a tool of the page runs in the page, once, and its answer goes on', async () => {
    const { z } = load('zod');
    const page = await open('copilot-tool', crypto.randomUUID());
    const painted = [];
    page.core.addTool({
      name: 'paint_page', description: 'Paints the page.', parameters: z.object({ colour: z.string() }),
      handler: async ({ colour }) => { painted.push(colour); return `it is ${colour} now`; },
    });
    await page.say('现在几点？paint_page {"colour":"red"}');
    assert.deepEqual(painted, ['red']);
    assert.match(page.seen.text, /it is red now/);
    page.isWhole();
    const reloaded = await open('copilot-tool', page.agent.threadId);
    assert.deepEqual(reloaded.agent.messages, page.agent.messages, 'a reload must show what was there');
    await page.say('谢谢');
    assert.equal(page.roles().at(-1), 'assistant', 'the conversation must go on');
  });

  test('another user sees nothing of a thread, and stops nothing in it', async () => {
    const page = await open('copilot-mine', crypto.randomUUID());
    await page.say('帮我订一份水煮牛肉。');
    const other = await open('copilot-other', page.agent.threadId);
    assert.deepEqual(other.agent.messages, []);
    assert.equal(other.pending.pending, null);
    const stop = await fetch(`${AGENTMESH_URL}/copilotkit/agent/default/stop/${page.agent.threadId}`, {
      method: 'POST', headers: { 'Content-Type': 'application/json', 'X-User-ID': 'copilot-other' },
    });
    assert.deepEqual(await stop.json(), { stopped: false });
    assert.deepEqual(await page.orders(), ['PLACING']);
  });
});

/** A page that has just been opened in a conversation: it connects, and keeps questions as CopilotKit's hook does. */
async function open(user, threadId) {
  const { CopilotKitCore, ɵInterruptState } = load('@copilotkit/core');
  const failures = [];
  const core = new CopilotKitCore({ runtimeUrl: `${AGENTMESH_URL}/copilotkit`, headers: { 'X-User-ID': user } });
  core.subscribe({ onError: ({ error, code }) => failures.push(`${code}: ${error.message}`) });
  await new Promise((resolve, reject) => {
    const look = () => {
      if (core.runtimeConnectionStatus === 'connected') resolve();
      if (core.runtimeConnectionStatus === 'error') reject(new Error(failures.join()));
    };
    core.subscribe({ onRuntimeConnectionStatusChanged: look });
    look();
  });
  const agent = core.getAgent('default');
  agent.threadId = threadId;
  const page = { core, agent, pending: new ɵInterruptState(), seen: { text: '', deltas: 0, custom: [], runs: [] } };
  let began;
  page.first = new Promise((resolve) => { began = resolve; });
  let asked = null;
  const labels = new Map();
  agent.subscribe({
    onRunStartedEvent: ({ event }) => { page.seen.runs.push(event.runId); asked = null; page.pending.clear(); },
    onTextMessageContentEvent: ({ event }) => { page.seen.text += event.delta; page.seen.deltas++; began(); },
    onCustomEvent: ({ event }) => { page.seen.custom.push(event.name); },
    onRunFinishedEvent: ({ outcome, interrupts, input }) => {
      if (outcome !== 'interrupt') return;
      asked = interrupts;
      for (const i of interrupts) labels.set(i.id, input.runId);
    },
    onRunFinalized: () => { if (asked) page.pending.setStandard(asked); },
  });
  const call = async (work, { cancelled } = {}) => {
    failures.length = 0;
    await work();
    if (!cancelled) assert.deepEqual(failures, []);
  };
  page.get = async (where) => (await fetch(AGENTMESH_URL + where, { headers: { 'X-User-ID': user } })).json();
  page.orders = async () => (await page.get('/api/v1/orders')).items.map((o) => o.status);
  page.roles = () => agent.messages.map((m) => m.role);
  page.say = (content, how) => {
    agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
    return call(() => core.runAgent({ agent }), how);
  };
  page.answer = (payload) => { // as CopilotKit's useInterrupt answers: tool messages of its own, the label of the run that asked
    const decision = page.pending.resolve(payload);
    assert.equal(decision.kind, 'resume');
    for (const { toolCallId, content } of decision.toolResults) agent.addMessage({ id: crypto.randomUUID(), role: 'tool', toolCallId, content });
    return call(() => core.runAgent({ agent, resume: decision.resume, runId: labels.get(decision.resume[0].interruptId) }));
  };
  page.isWhole = () => {
    const calls = agent.messages.flatMap((m) => m.toolCalls ?? []);
    for (const c of calls) assert.doesNotThrow(() => JSON.parse(c.function.arguments), 'arguments must not have been sent twice');
    const answered = agent.messages.filter((m) => m.role === 'tool').map((m) => m.toolCallId);
    assert.deepEqual(answered, calls.map((c) => c.id), 'each call has one tool message');
    assert.equal(new Set(agent.messages.map((m) => m.id)).size, agent.messages.length);
  };
  await call(() => core.connectAgent({ agent }));
  return page;
}
