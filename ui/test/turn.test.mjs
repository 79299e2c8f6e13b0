// Folding events into a turn, without a browser: node --test
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

const source = await readFile(new URL('../static/turn.js', import.meta.url), 'utf8');
const { applyEvent, endTask, isActive, isSaid, newTurn, openConfirmation, rewind, turnsOf } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

const question = {
  confirmationId: 'conf-1', runId: 'run-1', threadId: 't', toolCallId: 'c1', tool: 'place_order', status: 'OPEN',
  summary: { lines: [{ dishId: 'food-001', quantity: 1 }], totalFen: 3200 }, deadline: '2026-11-29T23:00:00Z',
};
const asked = [
  { type: 'RUN_STARTED', threadId: 't', runId: 'client' },
  { type: 'CUSTOM', name: 'skills_routed', value: { skills: [{ id: 'builtin.food_service' }], tools: [] } },
  { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'place_order' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '{"a":' },
  { type: 'TOOL_CALL_ARGS', toolCallId: 'c1', delta: '1}' },
  { type: 'TOOL_CALL_END', toolCallId: 'c1' },
  { type: 'CUSTOM', name: 'tool_confirmation_required', value: question },
];
const settled = [
  { type: 'CUSTOM', name: 'tool_confirmation_resolved', value: { confirmationId: 'conf-1', toolCallId: 'c1', status: 'CONFIRMED', decidedBy: 'local' } },
  { type: 'TOOL_CALL_RESULT', toolCallId: 'c1', content: '{"orderId":"order-1"}', metadata: { agentmesh: { runId: 'run-1', status: 'SUCCEEDED', kind: 'A2A', durationMs: 12 } } },
  { type: 'TEXT_MESSAGE_START', messageId: 'm1', role: 'assistant' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: '好' },
  { type: 'TEXT_MESSAGE_CONTENT', messageId: 'm1', delta: '的' },
  { type: 'TEXT_MESSAGE_END', messageId: 'm1' },
  { type: 'RUN_FINISHED', threadId: 't', runId: 'client', usage: [{ totalTokens: 3 }] },
];

function fold(events, turn = newTurn({ text: '订' })) {
  events.forEach((event, i) => applyEvent(turn, event, String(i + 1)));
  return turn;
}

test('a shortened context is one line, also when it is told again', () => {
  const told = { type: 'CUSTOM', name: 'context_compressed', value: { how: 'summary', beforeTokens: 7000, afterTokens: 3000 } };
  const turn = fold([asked[0], told, told]);
  assert.deepEqual(turn.parts.map(({ type, how }) => [type, how]), [['note', 'summary']]);
});

test('what the model thought stands before what it said, in the stream and in the store, and a call that is left to another client is no cancelled one', () => {
  const turn = fold([
    asked[0], ...settled.slice(2, 5),
    { type: 'REASONING_MESSAGE_START', messageId: 'm1-reasoning', role: 'reasoning' },
    { type: 'REASONING_MESSAGE_CONTENT', messageId: 'm1-reasoning', delta: '想' },
    ...asked.slice(2, 6), ...settled.slice(5),
  ]);
  assert.deepEqual(turn.parts.map((p) => [p.type, p.status ?? p.text]), [['thought', '想'], ['text', '好的'], ['tool', 'INPUT_REQUIRED']]);
  const [stored] = turnsOf([{ id: 'm1', runId: 'r', role: 'assistant', content: '好的', reasoning: '想', runStatus: 'SUCCEEDED' }]);
  assert.deepEqual(stored.parts.map((p) => [p.type, p.id, p.text]), [['thought', 'm1-reasoning', '想'], ['text', 'm1', '好的']]);
});

test('an order from question to answer', () => {
  const turn = fold(asked);
  assert.equal(openConfirmation(turn).id, 'conf-1');
  assert.equal(turn.parts[0].status, 'WAITING');
  assert.equal(turn.parts[0].args, '{"a":1}');
  assert.equal(turn.parts[0].lines[0].quantity, 1, 'the row of the tool knows what was asked');
  fold(settled, turn);
  assert.equal(openConfirmation(turn), undefined);
  assert.deepEqual(turn.parts.map((p) => [p.type, p.status ?? p.text]), [['tool', 'SUCCEEDED'], ['confirm', 'CONFIRMED'], ['text', '好的']]);
  assert.equal(turn.parts[1].decidedBy, 'local');
  assert.equal(turn.status, 'done');
  assert.equal(turn.runId, 'run-1');
});

test('an edited order shows what ran', () => {
  const edited = { args: { items: [2] }, argsDigest: 'd', summary: { lines: [{ dishId: 'food-001', quantity: 2 }], totalFen: 6400 } };
  const [resolved, ...rest] = settled;
  const turn = fold([...asked, { ...resolved, value: { ...resolved.value, edited } }, ...rest]);
  assert.equal(turn.parts[1].edited.summary.totalFen, 6400);
  assert.equal(turn.parts[0].args, '{"items":[2]}');
  assert.equal(turn.parts[0].lines[0].quantity, 2);
});

test('a question that takes the place of another is asked beside it', () => {
  const turn = fold([
    ...asked,
    { type: 'CUSTOM', name: 'tool_confirmation_resolved', value: { confirmationId: 'conf-1', status: 'CANCELLED', replacedBy: 'conf-2' } },
    { type: 'CUSTOM', name: 'tool_confirmation_required', value: { ...question, confirmationId: 'conf-2' } },
  ]);
  assert.equal(openConfirmation(turn).id, 'conf-2');
  assert.deepEqual(turn.parts.map((p) => [p.type, p.status, p.replacedBy]), [
    ['tool', 'WAITING', undefined], ['confirm', 'CANCELLED', 'conf-2'], ['confirm', 'OPEN', undefined],
  ]);
});

test('an interrupt is not an end; the run goes on where it stood', () => {
  const turn = fold([...asked, { type: 'RUN_FINISHED', outcome: { type: 'interrupt', interrupts: [{}] } }]);
  assert.equal(turn.status, 'interrupted');
  assert.ok(isActive(turn) && openConfirmation(turn));
  fold(settled, turn);
  assert.equal(turn.status, 'done');
});

test('told again from the start, nothing is there twice', () => {
  const turn = fold([...asked, ...settled.slice(0, 4)]);
  rewind(turn);
  fold([...asked, ...settled], turn);
  assert.equal(turn.parts.length, 3);
  assert.equal(turn.parts[2].text, '好的');
});

test('what a person said of a call is not what the call said', () => {
  assert.equal(isSaid('{"status":"FAILED","reason":"said_not_to_have_happened"}'), true);
  for (const own of ['{"status":"DENIED","reason":"rejected"}', '{"reason":7}', 'null', 'plain', undefined]) assert.equal(isSaid(own), false, own);
});

test('a stop leaves nothing open', () => {
  const turn = fold([...asked, { type: 'RUN_ERROR', message: 'cancelled', code: 'cancelled' }]);
  assert.equal(turn.status, 'cancelled');
  assert.deepEqual(turn.parts.map((p) => p.status), ['CANCELLED', 'CANCELLED']);
});

test('an error ends the turn as failed; unknown events and strange results do no harm', () => {
  const turn = fold([{ type: 'NEW_THING' }, {}, { type: 'TOOL_CALL_RESULT', toolCallId: 'x', content: 'plain' },
    { type: 'CUSTOM', name: 'other' }, { type: 'RUN_ERROR', message: 'no', code: 'unavailable' }]);
  assert.deepEqual(turn.error, { code: 'unavailable', message: 'no' });
  assert.equal(turn.parts[0].status, 'SUCCEEDED');
});

test('stored messages become turns', () => {
  const turns = turnsOf([
    { id: '1', runId: 'r1', role: 'user', content: '菜单', runStatus: 'SUCCEEDED' },
    { id: '2', runId: 'r1', role: 'assistant', content: '', toolCalls: [{ id: 'c', name: 'list_menu_by_day', arguments: '{}' }], runStatus: 'SUCCEEDED' },
    { id: '3', runId: 'r1', role: 'tool', toolCallId: 'c', content: '{"error":{"code":"invalid"}}', runStatus: 'SUCCEEDED' },
    { id: '4', runId: 'r1', role: 'assistant', content: '没读到', runStatus: 'SUCCEEDED' },
    { id: '5', runId: 'r2', role: 'user', content: '订', runStatus: 'AWAITING_CONFIRMATION' },
    { id: '6', runId: 'r3', role: 'user', content: '停', runStatus: 'CANCELLED' },
  ]);
  assert.deepEqual(turns.map((t) => [t.text, t.status, t.parts.length]), [['菜单', 'done', 2], ['订', 'running', 0], ['停', 'cancelled', 0]]);
  assert.equal(turns[0].parts[0].status, 'FAILED');
});

const placeholder = '{"status":"OFFLOADED","taskId":"task-1","message":"still running"}';

test('a call that goes on in the background is unfinished after its turn, until its task has ended', () => {
  const turn = fold([
    { type: 'RUN_STARTED', metadata: { agentmesh: { runId: 'run-1' } } },
    { type: 'TOOL_CALL_START', toolCallId: 'c1', toolCallName: 'call_weather' },
    { type: 'TOOL_CALL_RESULT', toolCallId: 'c1', content: placeholder, metadata: { agentmesh: { runId: 'run-1', status: 'OFFLOADED', taskId: 'task-1' } } },
    { type: 'RUN_FINISHED', threadId: 't', runId: 'client' },
  ]);
  assert.equal(turn.status, 'done');
  assert.equal(turn.parts[0].status, 'OFFLOADED');
  const ended = { taskId: 'task-1', runId: 'run-1', callId: 'c1', status: 'FAILED', result: { error: { code: 'timeout' } } };
  endTask(turn, ended);
  assert.equal(turn.parts[0].status, 'FAILED');
  assert.equal(turn.parts[0].result, '{"error":{"code":"timeout"}}');
  const telling = fold([{ type: 'CUSTOM', name: 'task_ended', value: ended }], newTurn({ runId: 'run-2' }));
  assert.equal(telling.tells, true, 'a run that nobody asked for says why it is there');
  assert.equal(telling.parts.length, 0);
});

test('stored messages tell which calls went on in the background', () => {
  const turns = turnsOf([
    { id: '1', runId: 'run-1', runStatus: 'SUCCEEDED', role: 'user', content: 'go' },
    { id: '2', runId: 'run-1', runStatus: 'SUCCEEDED', role: 'assistant', content: '', toolCalls: [{ id: 'c1', name: 'look', arguments: '{}' }] },
    { id: '3', runId: 'run-1', runStatus: 'SUCCEEDED', role: 'tool', content: placeholder, toolCallId: 'c1' },
    { id: '4', runId: 'run-2', runStatus: 'SUCCEEDED', role: 'hint', content: 'task task-1: look finished: {}' },
    { id: '5', runId: 'run-2', runStatus: 'SUCCEEDED', role: 'assistant', content: 'it has ended' },
  ]);
  assert.deepEqual(turns.map(({ text, tells }) => [text, tells]), [['go', false], ['', true]]);
  assert.equal(turns[0].parts[0].status, 'OFFLOADED');
  assert.equal(turns[0].parts[0].taskId, 'task-1');
});
