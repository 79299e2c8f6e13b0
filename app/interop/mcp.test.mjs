// The MCP Inspector's command line, in both eras of the protocol, and the official TypeScript client use the catalog.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';

const { AGENTMESH_URL, AGENTMESH_NPM } = process.env;
const unset = AGENTMESH_URL && AGENTMESH_NPM ? false : 'AGENTMESH_URL and AGENTMESH_NPM are not set';
const load = (name) => createRequire(path.join(AGENTMESH_NPM, '/'))(name);

const reading = ['get_food_item', 'list_menu_by_day', 'search_food_catalog'];
const writing = ['reserve_stock', 'commit_reservation', 'release_reservation', 'get_reservation', 'return_stock', 'deduct_stock'];

for (const [era, version] of [['modern', '2026-07-28'], ['legacy', '2025-11-25']]) {
  describe(`the MCP Inspector, ${era} era`, { skip: unset, timeout: 60_000 }, () => {
    test('connects', async () => {
      const { code, out } = await inspect(era, '--method', 'initialize');
      assert.deepEqual([code, out.result.protocolVersion, out.result.serverInfo.name], [0, version, 'agentmesh-catalog']);
      assert.deepEqual(out.result.capabilities, { tools: {} });
    });

    test('lists the reading tools, and finds no fault with their schemas', async () => {
      const { code, out, err } = await inspect(era, '--method', 'tools/list', '--strict');
      assert.deepEqual([code, err], [0, '']);
      assert.deepEqual(out.result.tools.map((t) => t.name), reading);
      assert.ok(out.result.tools.every((t) => t.annotations.readOnlyHint && !t.annotations.destructiveHint && t.outputSchema));
    });

    test('calls each of them', async () => {
      const [item, menu, found] = await Promise.all([
        call(era, 'get_food_item', { id: 'food-001' }), call(era, 'list_menu_by_day', { day: '今天' }), call(era, 'search_food_catalog', { query: 'tofu' }),
      ]);
      assert.deepEqual([item.code, menu.code, found.code], [0, 0, 0]);
      assert.equal(item.out.result.structuredContent.name, '水煮牛肉');
      assert.deepEqual(JSON.parse(item.out.result.content[0].text), item.out.result.structuredContent);
      assert.ok(menu.out.result.structuredContent.dishes.length > 0);
      assert.match(found.out.result.structuredContent.dishes[0].nameEn, /tofu/i);
    });

    test('a tool that fails says so in words', async () => {
      const [missing, wrong] = await Promise.all([call(era, 'get_food_item', { id: 'food-999' }), call(era, 'search_food_catalog', { limit: 0 })]);
      for (const [{ code, out }, why, words] of [[missing, 'not_found', /food-999/], [wrong, 'invalid', /limit/]]) {
        assert.deepEqual([code, out.result.isError, out.result._meta['agentmesh/error']], [5, true, { code: why }]);
        assert.match(out.result.content[0].text, words);
      }
    });

    test('an unknown tool and a writing one are both not there', async () => {
      for (const { code, err } of await Promise.all([call(era, 'no_such', {}), call(era, 'deduct_stock', { dishId: 'food-001', quantity: 1 })])) {
        assert.equal(code, 5);
        assert.match(err, /tool_not_found/);
      }
    });
  });
}

describe('@modelcontextprotocol/sdk', { skip: unset, timeout: 60_000 }, () => {
  let client;
  before(async () => {
    const { Client } = load('@modelcontextprotocol/sdk/client/index.js');
    const { StreamableHTTPClientTransport } = load('@modelcontextprotocol/sdk/client/streamableHttp.js');
    client = new Client({ name: 'interop', version: '1' });
    await client.connect(new StreamableHTTPClientTransport(new URL('/mcp', AGENTMESH_URL)));
    await client.listTools(); // from here on the client checks results against their schemas
  });
  after(() => client.close());

  test('lists', async () => {
    assert.equal(client.getServerVersion().name, 'agentmesh-catalog');
    assert.deepEqual((await client.listTools()).tools.map((t) => t.name), reading);
  });

  test('calls, with structured content that fits its schema', async () => {
    for (const query of ['豆腐', 'tofu']) {
      const { structuredContent: { dishes, total }, isError } = await client.callTool({ name: 'search_food_catalog', arguments: { query, limit: 1 } });
      assert.deepEqual([isError ?? false, dishes.length], [false, 1]);
      assert.ok(total >= 1);
      assert.match(dishes[0].name, /豆腐/);
    }
    const sunday = await client.callTool({ name: 'list_menu_by_day', arguments: { day: 'sunday' } });
    assert.equal(sunday.structuredContent.weekday, 7);
  });

  test('a tool that fails is a result, and its message arrives', async () => {
    for (const [name, args, code, words] of [
      ['get_food_item', { id: 'food-999' }, 'not_found', /food-999/],
      ['get_food_item', { id: 7 }, 'invalid', /schema/],
      ['get_food_item', { id: 'food-001', more: 1 }, 'invalid', /more/],
      ['list_menu_by_day', { day: 'someday' }, 'invalid', /someday/],
    ]) {
      const result = await client.callTool({ name, arguments: args });
      assert.deepEqual([result.isError, result.structuredContent, result._meta['agentmesh/error']], [true, undefined, { code }]);
      assert.match(result.content[0].text, words);
    }
  });

  test('the writing tools are not served, no more than one that does not exist', async () => {
    for (const name of ['no_such', ...writing]) {
      await assert.rejects(client.callTool({ name, arguments: { key: 'k', dishId: 'food-001', quantity: 1 } }), { code: -32602, data: { code: 'not_found' } });
    }
  });
});

function call(era, name, args) {
  return inspect(era, '--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(args));
}

/** Runs the Inspector once: its exit code, the JSON it wrote, and what it complained of. */
function inspect(era, ...args) {
  const command = path.join(AGENTMESH_NPM, 'node_modules/.bin/mcp-inspector');
  const all = ['--cli', `${AGENTMESH_URL}/mcp`, '--transport', 'http', '--protocol-era', era, '--format', 'json', ...args];
  const env = { ...process.env, HOME: path.join(AGENTMESH_NPM, 'home') }; // it keeps files there
  return new Promise((resolve) => {
    execFile(command, all, { env, timeout: 30_000 }, (failed, stdout, stderr) => {
      resolve({ code: failed ? failed.code : 0, out: stdout && JSON.parse(stdout), err: stderr });
    });
  });
}
