// The page's own stream reader, without a browser: node --test
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';

const source = await readFile(new URL('../static/stream.js', import.meta.url), 'utf8');
const { createParser, readEvents } = await import(`data:text/javascript,${encodeURIComponent(source)}`);

function parse(...pieces) {
  const events = [];
  const push = createParser((event) => events.push(event));
  pieces.forEach((piece) => push(piece));
  return events;
}

test('an event ends at a blank line, and an unfinished one is not told', () => {
  assert.deepEqual(parse('id: 1\ndata: a\n\nid: 2\ndata: b\n'), [{ id: '1', data: 'a' }]);
});

test('all three line ends, also when a piece ends between CR and LF', () => {
  const want = [{ id: '7', data: 'a\nb' }];
  assert.deepEqual(parse('id: 7\r\ndata: a\r', '\ndata: b\r\n\r', '\n'), want);
  assert.deepEqual(parse('id: 7\rdata: a\rdata: b\r\r', ':'), want);
});

test('comments, unknown fields and events without data are passed over; ids last', () => {
  assert.deepEqual(parse(': hello\n\nretry: 5\nfoo\nid: 3.12\n\ndata:x\n\n'), [{ id: '3.12', data: 'x' }]);
});

test('a line inside the data that looks like a field stays data', () => {
  const text = JSON.stringify({ delta: 'data: x\n\nid: 9\r' });
  assert.deepEqual(parse(`data: ${text}\n\n`), [{ id: '', data: text }]);
});

test('cut after every byte, Chinese text arrives whole and once', async () => {
  const events = [{ type: 'A', delta: '水煮牛肉，¥32.00 🌶' }, { type: 'B' }];
  const bytes = new TextEncoder().encode(events.map((e, i) => `id: ${i}\ndata: ${JSON.stringify(e)}\n\n`).join(''));
  const body = new ReadableStream({
    start(controller) {
      for (const byte of bytes) controller.enqueue(new Uint8Array([byte]));
      controller.close();
    },
  });
  const got = [];
  await readEvents(new Response(body), (event, id) => got.push([id, event]));
  assert.deepEqual(got, [['0', events[0]], ['1', events[1]]]);
});

test('a broken connection throws, after what came before it', async () => {
  const body = new ReadableStream({
    pull(controller) {
      if (this.sent) controller.error(new Error('cut'));
      else controller.enqueue(new TextEncoder().encode('data: {"type":"A"}\n\ndata: {"ty'));
      this.sent = true;
    },
  });
  const got = [];
  await assert.rejects(readEvents(new Response(body), (event) => got.push(event)));
  assert.deepEqual(got, [{ type: 'A' }]);
});
