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

  test('orders: one is taken back in two steps, in the view and beside the conversation', async () => {
    const one = await Visitor.open(browser, { extraHTTPHeaders: { 'X-User-ID': `cancel-${process.pid}` } });
    for (const dish of ['水煮牛肉', '番茄炒蛋']) await order(one, `帮我订一份${dish}。`);
    const [newer, older] = await one.orders();
    const beside = one.at('order', `[data-order="${older.id}"]`);
    await beside.locator(byId('cancel-order')).click();
    await until('the focus at the question', () => focused(beside.locator(byId('cancel-order-yes'))));
    await one.page.keyboard.press('Tab');
    await one.page.keyboard.press('Enter');
    await until('the focus back at the first step', () => focused(beside.locator(byId('cancel-order'))));
    assert.equal((await one.orders()).length, 2, 'nothing is cancelled by one click');
    await takeBack(one, beside, /水煮牛肉 × 1/);

    await go(one, 'orders');
    const shown = one.at('order', `[data-order="${newer.id}"]`);
    await one.page.route('**/cancel', (route) => route.fulfill({
      status: 409, contentType: 'application/problem+json', json: { status: 409, code: 'conflict', detail: 'the day of this order is over' },
    }), { times: 1 });
    await shown.locator(byId('cancel-order')).click();
    await shown.locator(byId('cancel-order-yes')).click();
    assert.match(await shown.locator(byId('order-problem')).innerText(), /没能取消[\s\S]*the day of this order is over/);
    await until('the focus back at the first step', () => focused(shown.locator(byId('cancel-order'))));
    assert.equal(await shown.getAttribute('data-status'), 'CONFIRMED');
    one.faults = one.faults.filter((fault) => !/status of 409/.test(fault)); // the browser notes the refusal, as it should be

    await one.otherLanguage();
    assert.match(await shown.innerText(), /Cancel order/);
    await takeBack(one, shown, /Order cancelled: \S.* × 1/);
    assert.equal((await one.orders()).length, 0);
    assert.match(await shown.innerText(), /Cancelled[\s\S]*You cancelled it/);
    await one.page.goBack();
    await one.at('message-input').waitFor();
    assert.equal(await one.at('order', '[data-status="CANCELLED"]').count(), 2, 'the list beside the conversation knows it too');
    one.innocent();
    await one.page.context().close();
  });

  test('orders: one from before today has no way to be cancelled when its day is over everywhere', async () => {
    const one = await Visitor.open(browser, { extraHTTPHeaders: { 'X-User-ID': `past-${process.pid}` } });
    await order(one, '帮我订一份水煮牛肉。');
    await one.page.route('**/api/v1/orders', async (route) => {
      const response = await route.fetch();
      const list = await response.json();
      await route.fulfill({ response, json: { ...list, items: list.items.map((item) => ({ ...item, date: '2020-02-03' })) } });
    });
    await go(one, 'orders');
    await one.at('order').waitFor();
    assert.equal(await one.at('cancel-order').count(), 0);
    one.innocent();
    await one.page.context().close();
  });

  test('an order whose conversation was deleted: what is gone is said calmly', async () => {
    const one = await Visitor.open(browser, { extraHTTPHeaders: { 'X-User-ID': `gone-${process.pid}` } });
    await order(one, '帮我订一份水煮牛肉。');
    const [{ threadId }] = await one.orders();
    const gone = await one.page.request.delete(new URL(`/api/v1/conversations/${threadId}`, process.env.AGENTMESH_URL).href, { data: {} });
    assert.ok(gone.ok(), `delete the conversation: ${gone.status()}`);
    await one.page.goto(new URL('/#/orders', process.env.AGENTMESH_URL).href);
    await one.page.reload();
    await one.at('order').locator(byId('order-run')).click();
    assert.match(await one.at('run-gone').innerText(), /随所在的对话一起删除/);
    assert.equal(await one.page.locator('main .is-bad').count(), 0, 'nothing went wrong');
    await one.page.goBack();
    await one.at('order').locator(byId('order-thread')).click();
    assert.match(await one.at('chat-gone').innerText(), /不在了/);
    assert.equal(await one.page.locator('main .is-bad').count(), 0, 'nothing went wrong');
    await one.otherLanguage();
    assert.match(await one.at('chat-gone').innerText(), /deleted/);
    await one.ask('What time is it?');
    await one.answer();
    assert.equal(await one.at('chat-gone').count(), 0);
    one.faults = one.faults.filter((fault) => !/status of 404/.test(fault)); // the browser notes it, as it should be
    one.innocent();
    await one.page.context().close();
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
      await asking(one, look);
      await remembering(one, () => looksRight(one, `views-memory-${look.name}`));
      await one.otherLanguage();
      await go(one, 'skills');
      await looksRight(one, `views-skills-en-${look.name}`);
      one.innocent();
      await one.page.context().close();
    });
  }

  test('on a phone the start page begins at its top, in both languages', async () => {
    for (const locale of ['zh-CN', 'en-US']) {
      const one = await Visitor.open(browser, { ...USER, locale, viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
      await one.at('sample').last().waitFor();
      await one.drawn();
      const [title, top] = [await one.at('welcome').locator('h2').boundingBox(), await one.page.locator('.top').boundingBox()];
      assert.ok(title.y >= top.y + top.height, `${locale}: the greeting begins at ${title.y}`);
      one.innocent();
      await one.page.context().close();
    }
  });

  test('the description of the interface fits a phone', async () => {
    const page = await (await browser.newContext({ viewport: { width: 390, height: 844 }, isMobile: true })).newPage();
    for (const width of [390, 360]) {
      await page.setViewportSize({ width, height: 844 });
      await page.goto(new URL('/docs', process.env.AGENTMESH_URL).href);
      const [wide, room] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth]);
      assert.ok(wide <= room && room === width, `${wide} px in ${room} of ${width}`);
    }
    if (process.env.AGENTMESH_SHOTS) await page.screenshot({ path: `${process.env.AGENTMESH_SHOTS}/docs-phone.png` });
    await page.context().close();
  });

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

function focused(locator) {
  return locator.evaluate((el) => el === document.activeElement);
}

async function order(me, text) {
  await me.ask(text);
  await (await me.openCard()).locator(byId('confirm-accept')).click();
  await me.answer();
}

/** Cancels an order in two steps; the focus stays at it, and it is said. */
async function takeBack(me, shown, said) {
  await shown.locator(byId('cancel-order')).click();
  await shown.locator(byId('cancel-order-yes')).click();
  await until('it to be cancelled', async () => (await shown.getAttribute('data-status')) === 'CANCELLED');
  assert.ok(await focused(shown), 'the focus stays at the order');
  assert.equal(await shown.locator(byId('cancel-order')).count(), 0);
  assert.match(await me.at('announcer').locator('p').last().innerText(), said);
}

/** The question before an order, as asked and while it is changed, in both languages; on a phone of 360 px too. */
async function asking(me, look) {
  await me.page.goto(process.env.AGENTMESH_URL);
  await me.ask('帮我订一份水煮牛肉。');
  await me.openCard();
  const { width, height } = me.page.viewportSize();
  for (const language of ['zh', 'en']) {
    for (const wide of look.options.isMobile ? [360, width] : [width]) {
      await me.page.setViewportSize({ width: wide, height });
      await looksRight(me, `views-asked-${language}-${wide}-${look.name}`);
      await me.card().locator(byId('confirm-edit')).click();
      await looksRight(me, `views-changed-${language}-${wide}-${look.name}`);
      await me.card().locator(byId('confirm-edit')).click();
    }
    await me.otherLanguage();
  }
  await me.card().locator(byId('confirm-reject')).click();
  await me.answer();
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
