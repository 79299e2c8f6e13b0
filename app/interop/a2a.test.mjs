// The official A2A client, @a2a-js/sdk, talks to the Food and Weather agents through the gateway.
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { before, describe, test } from 'node:test';

const { AGENTMESH_URL, AGENTMESH_NPM } = process.env;
const unset = AGENTMESH_URL && AGENTMESH_NPM ? false : 'AGENTMESH_URL and AGENTMESH_NPM are not set';
const load = (name) => createRequire(path.join(AGENTMESH_NPM, '/'))(name);

describe('@a2a-js/sdk through the gateway', { skip: unset, timeout: 60_000 }, () => {
  let sdk, weather, food;
  before(async () => {
    sdk = { ...load('@a2a-js/sdk'), ...load('@a2a-js/sdk/client') };
    [weather, food] = await Promise.all([clientOf('weather'), clientOf('food')]);
  });

  test('the card names the gateway, and only it', async () => {
    for (const name of ['food', 'weather']) {
      const card = await new sdk.DefaultAgentCardResolver().resolve(baseOf(name));
      const [found, ...more] = card.supportedInterfaces;
      assert.deepEqual([found.url, found.protocolBinding, found.protocolVersion], [baseOf(name), 'JSONRPC', '1.0']);
      assert.equal(more.length, 0);
      assert.deepEqual(JSON.stringify(card).match(/https?:[^"]*/g), [baseOf(name)], 'no other address anywhere in it');
      assert.ok(card.skills.length > 0 && card.capabilities.streaming);
    }
    // The client resolves against the base, so that one without its slash at the end is the gateway's, not the agent's.
    await assert.rejects(new sdk.DefaultAgentCardResolver().resolve(baseOf('food').slice(0, -1)), /404/);
    await assert.rejects(clientOf('nobody'), /404/);
  });

  test('a text part, in Chinese and English', async () => {
    const zh = finished(await weather.sendMessage(text('上海未来三天天气怎么样？')));
    assert.match(zh.text, /^上海现在/);
    const en = finished(await weather.sendMessage(text('What is the weather in Chengdu for the next 2 days?')));
    assert.match(en.text, /^Chengdu now/);
    assert.deepEqual([zh, en].map(({ name, data }) => [name, data.cityEn, data.days.length]), [['RESULT', 'Shanghai', 3], ['RESULT', 'Chengdu', 2]]);
    assert.match(finished(await food.sendMessage(text('今天有什么菜？'))).text, /水煮牛肉 32\.00/);
    assert.match(finished(await food.sendMessage(text("What's on the menu today?"))).text, /Sichuan boiled beef 32\.00/);
  });

  test('a data part: an order is ORDER_DATA', async () => {
    const said = finished(await weather.sendMessage(skill('call_weather', { city: '北京', days: 2 })));
    assert.equal(said.data.days.length, 2);
    for (const dish of ['水煮牛肉', 'Sichuan boiled beef']) {
      const order = finished(await food.sendMessage(skill('place_order', { items: [{ dish, quantity: 2, note: '' }] })));
      assert.equal(order.name, 'ORDER_DATA');
      assert.deepEqual([order.data.totalFen, order.data.lines[0].name, order.data.lines[0].quantity], [6400, '水煮牛肉', 2]);
    }
    assert.equal(finished(await food.sendMessage(text('帮我订一份水煮牛肉。'))).name, 'ORDER_DATA');
  });

  test('a stream: the task, its progress, its artifact, its end, piece by piece', async () => {
    let pieces = 0;
    const watched = await clientOf('food', async (url, init) => {
      const answer = await fetch(url, init);
      const count = new TransformStream({ transform(chunk, out) { pieces++; out.enqueue(chunk); } });
      return new Response(answer.body.pipeThrough(count), answer);
    });
    const most = [];
    for (let i = 0; i < 5; i++) { // a busy machine may hand several pieces over at once; a buffer would always
      pieces = 0;
      const events = await all(watched.sendMessageStream(text('帮我订一份水煮牛肉。')));
      assert.deepEqual(events.map(kind), ['task SUBMITTED', 'status WORKING', 'status WORKING', 'artifact ORDER_DATA', 'status COMPLETED']);
      assert.equal(events[2].payload.value.status.message.parts[0].content.value, '正在查看菜单…');
      most.push(pieces);
    }
    assert.ok(Math.max(...most) > 1, `the events came in ${most} pieces`);
  });

  test('a question is answered on the same task', async () => {
    for (const [question, city, answer] of [['天气怎么样？', '上海', /^上海现在/], ['What is the weather?', 'Beijing', /^Beijing now/]]) {
      const asked = await weather.sendMessage(text(question));
      assert.equal(stateOf(asked), 'INPUT_REQUIRED');
      assert.match(asked.status.message.parts[0].content.value, /哪个城市.*Which city/);
      const done = await weather.sendMessage(text(city, { taskId: asked.id, contextId: asked.contextId }));
      assert.deepEqual([done.id, done.contextId], [asked.id, asked.contextId]);
      assert.match(finished(done).text, answer);
      const said = (await weather.getTask({ tenant: '', id: done.id })).history.map((m) => m.parts[0].content.value);
      assert.deepEqual([said[0], said[2]], [question, city], 'the question of the agent stands between');
    }
    const asked = await food.sendMessage(text('我要订餐'));
    assert.equal(stateOf(asked), 'INPUT_REQUIRED');
    assert.equal(finished(await food.sendMessage(text('两份水煮牛肉', { taskId: asked.id }))).name, 'ORDER_DATA');
  });

  test('the stream of a later turn, and a subscription, begin with the task', async () => {
    const [first, ...rest] = await all(weather.sendMessageStream(text('What is the weather?')));
    assert.equal(kind(rest.at(-1)), 'status INPUT_REQUIRED');
    const { id } = first.payload.value;
    assert.deepEqual((await all(weather.resubscribeTask({ tenant: '', id }))).map(kind), ['task INPUT_REQUIRED']);
    const events = await all(weather.sendMessageStream(text('Xi’an', { taskId: id })));
    assert.equal(kind(events[0]), 'task WORKING');
    assert.equal(kind(events.at(-1)), 'status COMPLETED');
    await refused('UnsupportedOperationError', all(weather.resubscribeTask({ tenant: '', id })));
  });

  test('get and list', async () => {
    const contextId = randomUUID();
    const ids = [];
    for (const city of ['北京', '上海', '广州']) ids.unshift((await weather.sendMessage(text(`${city}天气`, { contextId }))).id);
    const got = await weather.getTask({ tenant: '', id: ids[0], historyLength: 0 });
    assert.deepEqual([got.contextId, got.history.length, finished(got).data.city], [contextId, 0, '广州']);
    const list = (more) => weather.listTasks({ tenant: '', contextId, status: 0, pageToken: '', ...more });
    const page = await list({ pageSize: 2 });
    assert.deepEqual([page.totalSize, page.tasks.map((t) => t.id), page.tasks[0].artifacts], [3, ids.slice(0, 2), []]);
    const last = await list({ pageSize: 2, pageToken: page.nextPageToken, includeArtifacts: true });
    assert.deepEqual([last.tasks.map((t) => t.id), last.nextPageToken], [ids.slice(2), '']);
    assert.equal(finished(last.tasks[0]).data.city, '北京');
    assert.deepEqual((await list({ status: sdk.TaskState.TASK_STATE_FAILED })).tasks, []);
    await refused('RequestMalformedError', list({ pageSize: 101 }));
  });

  test('cancel', async () => {
    const asked = await weather.sendMessage(text('天气怎么样？'));
    const cancel = (id) => weather.cancelTask({ tenant: '', id, metadata: undefined });
    assert.equal(stateOf(await cancel(asked.id)), 'CANCELED');
    assert.equal(stateOf(await cancel(asked.id)), 'CANCELED', 'a second time is no mistake');
    await refused('UnsupportedOperationError', weather.sendMessage(text('上海', { taskId: asked.id })));
    const done = await weather.sendMessage(text('上海天气'));
    await refused('TaskNotCancelableError', cancel(done.id));
    await refused('TaskNotFoundError', cancel('nope'));
  });

  test('what an agent cannot do is a FAILED task with words', async () => {
    for (const [agent, message, code, words] of [
      [weather, text('Weather in Atlantis?'), 'not_found', /Atlantis.*Shanghai/],
      [weather, text('亚特兰蒂斯的天气'), 'not_found', /没有“亚特兰蒂斯”的天气.*上海/],
      [weather, skill('dance'), 'invalid', /no skill "dance".*call_weather/],
      [weather, skill('call_weather', { city: '上海', days: 8 }), 'invalid', /1 到 7 天/],
      [food, skill('dance'), 'invalid', /no skill "dance".*place_order/],
      [food, text('Order one unicorn steak'), 'not_found', /unicorn steak.*水煮牛肉/],
    ]) {
      const task = await agent.sendMessage(message);
      assert.equal(stateOf(task), 'FAILED');
      const [said, data] = task.status.message.parts.map((p) => p.content.value);
      assert.match(said, words);
      assert.deepEqual(data, { error: { code, message: said } });
    }
  });

  test('what breaks the protocol is the error that the protocol has for it', async () => {
    const done = await weather.sendMessage(text('上海天气'));
    await refused('TaskNotFoundError', weather.getTask({ tenant: '', id: 'nope' }));
    await refused('TaskNotFoundError', all(weather.resubscribeTask({ tenant: '', id: 'nope' })));
    await refused('TaskNotFoundError', weather.sendMessage(text('上海', { taskId: 'nope' })));
    await refused('UnsupportedOperationError', weather.sendMessage(text('北京', { taskId: done.id })));
    await refused('UnsupportedOperationError', all(weather.sendMessageStream(text('北京', { taskId: done.id }))));
    await refused('RequestMalformedError', weather.sendMessage(text('')), 'a message without parts');
    await refused('ExtendedAgentCardNotConfiguredError', weather.transport.getExtendedAgentCard({ tenant: '' }));
    const old = await clientOf('weather', (url, init) => fetch(url, { ...init, headers: { ...init.headers, 'A2A-Version': '0.3' } }));
    await refused('VersionNotSupportedError', old.sendMessage(text('上海天气')));
    await refused('VersionNotSupportedError', all(old.sendMessageStream(text('上海天气'))));
  });

  function clientOf(name, fetchImpl) {
    const transports = [new sdk.JsonRpcTransportFactory({ fetchImpl })];
    return new sdk.ClientFactory(sdk.ClientFactoryOptions.createFrom(sdk.ClientFactoryOptions.default, { transports })).createFromUrl(baseOf(name));
  }

  function message(parts, more) {
    return sdk.SendMessageRequest.fromJSON({ message: { messageId: randomUUID(), role: 'ROLE_USER', parts, ...more } });
  }
  function text(words, more) { return message(words ? [{ text: words }] : [], more); }
  function skill(name, args) { return message([{ data: { skill: name, arguments: args } }]); }

  /** What a completed task has to show: its one artifact. */
  function finished(task) {
    assert.equal(stateOf(task), 'COMPLETED', JSON.stringify(task.status));
    assert.equal(task.artifacts.length, 1);
    const [{ name, parts }] = task.artifacts;
    assert.deepEqual(parts.map((p) => p.content.$case), ['text', 'data']);
    return { name, text: parts[0].content.value, data: parts[1].content.value };
  }

  function stateOf({ status }) { return sdk.taskStateToJSON(status.state).replace('TASK_STATE_', ''); }

  function kind({ payload: { $case, value } }) {
    return $case === 'artifactUpdate' ? `artifact ${value.artifact.name}` : `${$case.replace('Update', '')} ${stateOf(value)}`;
  }
});

function baseOf(name) { return `${AGENTMESH_URL}/a2a/agents/${name}/`; }

async function all(events) {
  const out = [];
  for await (const event of events) out.push(event);
  return out;
}

/** The client turned the server's number into its own error, with words for a person. */
async function refused(name, promise, why) {
  await assert.rejects(promise, (err) => {
    assert.equal(err.name, name, why ?? err.message);
    assert.ok(err.message);
    return true;
  });
}
