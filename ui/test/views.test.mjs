// The views beside the conversation: orders, the skill market, memory, audit; in both themes, on a screen and on a phone.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { looks, looksRight } from './look.mjs';
import { Visitor, byId, launch, unset, until } from './page.mjs';

const USER = { extraHTTPHeaders: { 'X-User-ID': `views-${process.pid}` } }; // of this run alone: what it counts is its own

describe('the views', { skip: unset, timeout: 300_000 }, () => {
  let browser;
  let me;

  before(async () => {
    browser = await launch();
    me = await Visitor.open(browser, USER);
    await me.ask('记住我不吃辣。');
    await me.answer();
    await me.ask('记住我喜欢吃鱼。');
    await me.answer();
    await me.ask('上海未来三天天气怎么样？');
    await me.answer();
    for (const button of ['confirm-accept', 'confirm-reject']) {
      await me.ask('帮我订两份水煮牛肉和一份米饭。');
      await (await me.openCard()).locator(byId(button)).click();
      await me.answer();
    }
  });
  after(() => browser?.close());

  test('orders: lines with unit price and amount, state and reason, and the way to the run', async () => {
    await go(me, 'orders');
    const [rejected, confirmed] = [me.at('order', '[data-status="REJECTED"]'), me.at('order', '[data-status="CONFIRMED"]')];
    await confirmed.waitFor();
    assert.equal(await me.at('order').count(), 2);
    assert.match(await confirmed.locator(byId('order-line')).first().innerText(), /水煮牛肉 ¥32\.00 × 2\s+¥64\.00/);
    const lines = await confirmed.locator(byId('order-line')).locator('.num').allInnerTexts();
    const sum = lines.reduce((all, text) => all + Number(text.slice(1)), 0);
    assert.equal(await confirmed.locator(byId('order-total')).innerText(), `¥${sum.toFixed(2)}`);
    assert.match(await rejected.innerText(), /你没有同意/);
    const [order] = await me.orders('CONFIRMED');
    assert.equal(await confirmed.locator(byId('order-run')).getAttribute('href'), `#/runs/${order.runId}`);
    me.innocent();
  });

  test('the market: what a skill needs is shown before it is agreed to', async () => {
    await go(me, 'skills');
    const weather = me.at('skill', '[data-skill="builtin.weather"]');
    await weather.waitFor();
    assert.match(await weather.locator(byId('skill-version')).innerText(), /^\d+\.\d+\.\d+$/);
    assert.match(await weather.locator(byId('skill-permissions')).innerText(), /查询天气[\s\S]*weather\.read[\s\S]*已同意/);
    assert.match(await weather.locator(byId('skill-tools')).innerText(), /call_weather[\s\S]*A2A[\s\S]*只读取/);
    const food = me.at('skill', '[data-skill="builtin.food_service"]');
    assert.match(await food.locator(byId('skill-tools')).innerText(), /place_order[\s\S]*先问你/);
    assert.equal(await me.at('skill', '[data-skill="builtin.basics"]').locator(byId('skill-uninstall')).count(), 0, 'a system skill stays');

    await food.locator(byId('skill-uninstall')).click();
    await until('it to be gone', async () => (await food.getAttribute('data-installed')) === 'false');
    await until('the focus at what is next', () => food.locator(byId('skill-install')).evaluate((el) => el === document.activeElement));
    assert.match(await food.locator(byId('skill-permissions')).innerText(), /未同意/);
    await me.page.keyboard.press('Enter');
    const question = food.locator(byId('skill-question'));
    assert.match(await question.innerText(), /替你下单[\s\S]*提交订单（每次先问你）/);
    assert.equal(await food.getAttribute('data-installed'), 'false', 'nothing is granted before the yes');
    await me.shot('views-market-question');
    const [install] = await Promise.all([
      me.page.waitForRequest((request) => request.url().endsWith('/builtin.food_service/install')),
      question.locator(byId('skill-agree')).click(),
    ]);
    assert.deepEqual(install.postDataJSON().permissions, ['catalog.read', 'orders.create'], 'what was shown is what is granted');
    await until('it to be on', async () => (await food.getAttribute('data-enabled')) === 'true');
    me.innocent();
  });

  test('the market: a version that asks for more stays off until one agrees', async () => {
    const other = await Visitor.open(browser, USER);
    await other.page.route('**/api/v1/skill-marketplace', async (route) => {
      const response = await route.fetch();
      const list = await response.json();
      const weather = list.items.find((skill) => skill.id === 'builtin.weather');
      Object.assign(weather, { version: '2.0.0', permissions: ['weather.read', 'place.read'], granted: ['weather.read'], enabled: false });
      await route.fulfill({ response, json: list });
    });
    await go(other, 'skills');
    const weather = other.at('skill', '[data-skill="builtin.weather"]');
    assert.match(await weather.locator(byId('skill-state')).innerText(), /需要你同意/);
    assert.equal(await weather.locator(byId('skill-switch')).count(), 0);
    await weather.locator(byId('skill-install')).click();
    const asked = await weather.locator(byId('skill-question')).innerText();
    assert.match(asked, /place\.read/);
    assert.doesNotMatch(asked, /查询天气/, 'what was granted is not asked for again');
    other.innocent();
    await other.page.context().close();
  });

  test('memory: where it comes from, and forgetting takes two steps', async () => {
    await go(me, 'memory');
    await until('two preferences', async () => (await me.at('preference').count()) === 2);
    const spicy = me.at('preference').filter({ hasText: '不吃辣' });
    assert.match(await spicy.innerText(), /饮食[\s\S]*\d\d:\d\d/);
    assert.match(await spicy.locator(byId('preference-run')).getAttribute('href'), /^#\/runs\/run-/);
    const deletes = me.sent(/^DELETE /);
    await spicy.locator(byId('forget')).click();
    await until('the focus at the question', () => spicy.locator(byId('forget-yes')).evaluate((el) => el === document.activeElement));
    assert.equal(me.sent(/^DELETE /), deletes, 'nothing is forgotten by one click');
    await me.page.keyboard.press('Enter');
    await until('one preference', async () => (await me.at('preference').count()) === 1);
    const left = await (await me.page.request.get(new URL('/api/v1/preferences', process.env.AGENTMESH_URL).href)).json();
    assert.deepEqual(left.items.map(({ statement }) => /鱼/.test(statement)), [true]);
    await me.at('preference').locator(byId('forget')).click();
    await me.at('preference').locator(byId('forget-yes')).click();
    await me.at('memory-empty').waitFor();
    await me.shot('views-memory-empty');
    me.innocent();
  });

  test('audit: newest first, filters that the address keeps, parts, and the way to the run', async () => {
    await go(me, 'audit');
    await me.at('record').first().waitFor();
    const times = await me.at('record').locator('time').evaluateAll((all) => all.map((el) => el.dateTime));
    assert.deepEqual(times, [...times].sort().reverse());
    await me.at('audit-capability').selectOption('place_order');
    await until('orders only', async () => new Set(await attributes(me, 'data-capability')).size === 1);
    assert.deepEqual(await attributes(me, 'data-status'), ['DENIED', 'SUCCESS']);
    await me.at('audit-status').selectOption('DENIED');
    await until('the denied one', async () => (await me.at('record').count()) === 1);
    await me.at('audit-stage').selectOption('resolve');
    await me.at('audit-empty').waitFor();
    await me.page.goBack();
    await until('the denied one again', async () => (await me.at('record').count()) === 1);
    const run = await me.at('record').getAttribute('data-run');
    assert.equal(await me.at('record-run').getAttribute('href'), `#/runs/${run}`);

    await me.at('record').locator('summary').click();
    await me.at('record-only-run').click();
    await until('the run alone, in its order', async () => (await attributes(me, 'data-capability'))[0] === 'quote_order');
    assert.deepEqual([...new Set(await attributes(me, 'data-run'))], [run]);
    await me.page.reload();
    await until('the run again', async () => (await attributes(me, 'data-run'))[0] === run);
    await me.at('audit-any-run').click();
    await until('all runs', async () => new Set(await attributes(me, 'data-run')).size > 1);
    me.innocent();
  });

  test('audit: more than one part', async () => {
    const other = await Visitor.open(browser, USER);
    await other.page.route('**/api/v1/audit*', (route) => {
      const url = new URL(route.request().url());
      url.searchParams.set('limit', '3');
      return route.continue({ url: url.href });
    });
    await go(other, 'audit');
    await until('three', async () => (await other.at('record').count()) === 3);
    const all = (await (await other.page.request.get(new URL('/api/v1/audit?limit=100', process.env.AGENTMESH_URL).href)).json()).items;
    while (await other.at('more').count()) {
      const before = await other.at('record').count();
      await other.at('more').click();
      await until('more', async () => (await other.at('record').count()) > before);
    }
    assert.deepEqual(await other.at('record').locator('time').evaluateAll((found) => found.map((el) => el.dateTime)), all.map(({ at }) => at));
    assert.ok(await other.at('list-end').evaluate((el) => el === document.activeElement), 'the focus stays where the button was');
    other.innocent();
    await other.page.context().close();
  });

  test('going to a view and back keeps what was typed; a question that waits is said', async () => {
    await me.page.goto(process.env.AGENTMESH_URL);
    await me.at('message-input').fill('半句话');
    await go(me, 'orders');
    assert.ok(await me.page.locator('h1').evaluate((el) => el === document.activeElement), 'the title has the focus');
    await me.page.goBack();
    await until('what was typed', async () => (await me.at('message-input').inputValue()) === '半句话');
    await me.at('message-input').fill('');
    await me.ask('帮我订一份水煮牛肉。');
    await me.openCard();
    await go(me, 'memory');
    await me.at('open-elsewhere').getByRole('button').click();
    await (await me.openCard()).locator(byId('confirm-reject')).click();
    await me.answer();
    me.innocent();
  });

  for (const look of looks) {
    test(`${look.name}: every view fits and can be read`, async () => {
      const one = await Visitor.open(browser, { ...USER, ...look.options });
      await looksRight(one, `views-chat-${look.name}`);
      if (look.options.isMobile) await drawer(one, look.name);
      for (const view of ['orders', 'skills', 'audit']) {
        await go(one, view);
        await one.at({ orders: 'order', skills: 'skill', audit: 'record' }[view]).first().waitFor();
        if (view === 'audit') await one.at('record').first().locator('summary').click();
        await looksRight(one, `views-${view}-${look.name}`);
      }
      await remembering(one, () => looksRight(one, `views-memory-${look.name}`));
      await one.at('language').click();
      await go(one, 'skills');
      await looksRight(one, `views-skills-en-${look.name}`);
      one.innocent();
      await one.page.context().close();
    });
  }

  test('the theme follows the system, and the choice is remembered', async () => {
    const one = await Visitor.open(browser, { ...USER, colorScheme: 'dark' });
    const ground = () => one.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await one.page.emulateMedia({ colorScheme: 'light' });
    const light = await ground();
    assert.notEqual(light, dark);
    await one.at('theme').click(); // from the system's to light
    await one.at('theme').click(); // to dark
    assert.equal(await ground(), dark);
    await go(one, 'audit');
    await one.page.reload();
    assert.equal(await ground(), dark, 'the choice must last');
    one.innocent();
    await one.page.context().close();
  });
});

/** Goes to a view as a person does; on a phone the way is in the drawer. */
async function go(me, view) {
  const link = me.at(`nav-${view}`);
  if (!(await link.isVisible())) await me.at('open-sidebar').click();
  await link.click();
  await me.at(`view-${view}`).waitFor();
  await until('the drawer to be closed', async () => (await me.page.locator('.backdrop').count()) === 0);
}

/** The way to the views on a phone: it takes the focus, fits, and gives the focus back. */
async function drawer(me, look) {
  await me.at('open-sidebar').click();
  await until('the focus in the drawer', () => me.at('sidebar').evaluate((el) => el.contains(document.activeElement)));
  await looksRight(me, `views-drawer-${look}`);
  await me.page.keyboard.press('Escape');
  await me.at('nav-orders').waitFor({ state: 'hidden' });
  await until('the focus back', () => me.at('open-sidebar').evaluate((el) => el === document.activeElement));
}

function attributes(me, name) {
  return me.at('record').evaluateAll((all, attribute) => all.map((el) => el.getAttribute(attribute)), name);
}

/** Has something remembered, shows the memory, and has it forgotten. */
async function remembering(me, look) {
  await me.page.goto(process.env.AGENTMESH_URL);
  await me.ask('记住我不吃辣。');
  await me.answer();
  await go(me, 'memory');
  await me.at('preference').first().waitFor();
  await look();
  await me.at('forget').click();
  await me.at('forget-yes').click();
  await me.at('memory-empty').waitFor();
}
