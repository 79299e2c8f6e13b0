// Clicks through the page in a real browser against a running server:
//   AGENTMESH_URL=http://127.0.0.1:8000 AGENTMESH_NPM=/folder/with/node_modules node --test order.test.mjs
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Visitor, byId, launch, unset, until } from './page.mjs';

const PAYLOADS = [
  '<script>window.__xss = 1</script>',
  '<img src=x onerror="window.__xss = 2">',
  '<svg/onload="window.__xss = 3">',
  '[点我](javascript:window.__xss=4)',
  '<iframe srcdoc="<script>parent.__xss = 5</script>"></iframe>',
  '![x](https://other.example/p.png?q=secret)',
];

describe('the page', { skip: unset, timeout: 300_000 }, () => {
  let browser;
  let me;

  before(async () => {
    browser = await launch();
    me = await Visitor.open(browser);
  });
  after(() => browser?.close());

  test('opens with questions to try, under a strict content policy', async () => {
    const response = await me.visit(process.env.AGENTMESH_URL);
    assert.match(response.headers()['content-security-policy'], /default-src 'none'/);
    assert.equal(response.headers()['x-content-type-options'], 'nosniff');
    assert.equal(await me.page.locator('html').getAttribute('lang'), 'zh-CN');
    assert.equal(await me.at('sample').count(), 10);
    await me.shot('01-empty');
    me.innocent();
  });

  test('the menu: a tool card that ends, and an answer', async () => {
    await me.ask('今天食堂有什么菜？');
    const answer = await me.answer();
    assert.match(answer, /水煮牛肉/);
    const card = me.tool('list_menu_by_day').first();
    assert.equal(await card.getAttribute('data-status'), 'SUCCEEDED');
    assert.equal(await card.locator(byId('tool-kind')).innerText(), 'MCP');
    await card.locator('summary').click();
    assert.match(await card.locator(byId('tool-result')).innerText(), /food-001/);
    assert.ok(await me.turn().locator(byId('routed-skills')).count(), 'the routed skills must be shown');
    await until('the conversation in the list', () => me.at('conversation').count());
    await me.shot('02-menu');
    me.innocent();
  });

  test('an order asks first; a double click on yes orders once', async () => {
    const before = await me.orders();
    await me.newConversation();
    await me.ask('帮我订一份水煮牛肉。');
    const card = await me.openCard();
    assert.equal(await card.getAttribute('role'), 'alertdialog');
    assert.match(await card.locator(byId('confirm-total')).innerText(), /^¥32\.00$/);
    assert.equal(await card.locator(byId('confirm-line')).count(), 1);
    assert.match(await card.locator(byId('confirm-line')).innerText(), /水煮牛肉[\s\S]*¥32\.00\s+1\s+¥32\.00/);
    assert.ok(await card.evaluate((el) => el.contains(document.activeElement)), 'the card must have the focus');
    await countsDown(card.locator(byId('confirm-countdown')));
    assert.equal((await me.orders()).length, before.length, 'nothing may be ordered before the yes');
    await me.shot('03-confirm');

    const posts = me.sent(/^POST .*\/confirm$/);
    await card.locator(byId('confirm-accept')).dblclick();
    await me.cardIs('CONFIRMED');
    const answer = await me.answer();
    assert.match(answer, /32\.00|下单|订单/);
    assert.equal(me.sent(/^POST .*\/confirm$/) - posts, 1, 'one click too many must not be sent');
    assert.equal(await card.locator('button').count(), 0, 'a decided card is read-only');
    assert.match(await card.locator(byId('confirm-decision')).innerText(), /已确认[\s\S]*\d\d:\d\d/);

    const now = await me.orders();
    assert.equal(now.length, before.length + 1);
    assert.equal(now[0].totalFen, 3200);
    const shown = me.at('order', `[data-order="${now[0].id}"]`);
    await until('the order beside the conversation', async () => (await shown.getAttribute('data-status').catch(() => '')) === 'CONFIRMED');
    assert.match(await shown.locator(byId('order-total')).innerText(), /¥32\.00/);
    await me.shot('04-confirmed');
    me.innocent();
  });

  test('portions and note are changed on the card; that is what is ordered', async () => {
    const before = await me.orders();
    await me.newConversation();
    await me.ask('帮我订一份水煮牛肉。');
    const card = await me.openCard();
    await card.locator(byId('confirm-edit')).click();
    const portions = card.locator(byId('confirm-portions'));
    await until('the field to have the focus', () => portions.evaluate((el) => el === document.activeElement));
    assert.match(await portions.getAttribute('aria-label'), /水煮牛肉/);
    const accept = card.locator(byId('confirm-accept'));
    for (const wrong of ['0', '21', '', '1.5']) {
      await portions.fill(wrong);
      assert.ok(await accept.isDisabled(), `${wrong} portions must not be sent`);
      assert.equal(await portions.getAttribute('aria-invalid'), 'true');
    }
    await portions.fill('2');
    await card.locator(byId('confirm-edit-note')).fill('少放辣');
    assert.match(await card.locator(byId('confirm-total')).innerText(), /^¥64\.00$/);
    await me.shot('03b-edit');
    await accept.click();
    await me.cardIs('CONFIRMED');
    assert.match(await card.locator(byId('confirm-total')).innerText(), /^¥64\.00$/);
    assert.match(await card.innerText(), /少放辣[\s\S]*已确认/);
    assert.ok(await card.locator(byId('confirm-edited')).isVisible());
    assert.match(await me.answer(), /64\.00/);
    const now = await me.orders();
    assert.equal(now.length, before.length + 1);
    assert.deepEqual([now[0].totalFen, now[0].lines[0].quantity, now[0].note], [6400, 2, '少放辣']);
    const row = me.tool('place_order').locator('summary');
    assert.match(await row.innerText(), /水煮牛肉 × 2/, 'the row names the dish');
    await me.otherLanguage();
    assert.match(await row.innerText(), /Sichuan boiled beef × 2/);
    await me.otherLanguage();
    me.innocent();

    await me.reload();
    await until('the card as it was decided', async () => (await me.at('chat-log').innerText()).includes('64.00'));
    assert.match(await row.innerText(), /水煮牛肉 × 2/);
    await me.turn().locator(byId('run-link')).click();
    assert.match(await me.at('tool-card', '[data-tool="place_order"]').locator('summary').innerText(), /水煮牛肉 × 2/, 'in the run too');
    await me.page.goBack();
    me.innocent();
  });

  test('more than may be ordered: the card says so and stays', async () => {
    await me.newConversation();
    await me.ask('来一份水煮牛肉和一份米饭');
    const card = await me.openCard();
    await card.locator(byId('confirm-edit')).click();
    for (const field of await card.locator(byId('confirm-portions')).all()) await field.fill('20'); // each may be, both not
    await card.locator(byId('confirm-accept')).click();
    assert.match(await card.locator(byId('confirm-problem')).innerText(), /20/);
    assert.equal(await card.getAttribute('data-status'), 'OPEN');
    me.faults = me.faults.filter((fault) => !/status of 400/.test(fault)); // the browser notes the refusal, as it should be
    await card.locator(byId('confirm-edit')).click();
    assert.equal(await card.locator(byId('confirm-portions')).count(), 0, 'changes can be undone');
    await card.locator(byId('confirm-reject')).click();
    await me.cardIs('REJECTED');
    await me.answer();
    me.innocent();
  });

  test('what was not on the card is asked anew', async () => {
    await me.newConversation();
    await me.ask('帮我订一份水煮牛肉。');
    await me.openCard();
    await me.page.route('**/confirm', async (route) => { // another dish, as only a program can put it
      const body = route.request().postDataJSON();
      body.args.items = [{ dish: 'food-015', quantity: 1 }];
      await route.continue({ postData: JSON.stringify(body) });
    }, { times: 1 });
    await me.card().locator(byId('confirm-edit')).click();
    await me.card().locator(byId('confirm-portions')).fill('2');
    await me.card().locator(byId('confirm-accept')).click();
    await until('a second card', async () => (await me.card().count()) === 2);
    const [old, anew] = [me.card().first(), me.card().last()];
    await until('the first to be closed', async () => (await old.getAttribute('data-status')) === 'CANCELLED');
    assert.match(await old.innerText(), /重新询问/);
    assert.match(await anew.innerText(), /番茄炒蛋[\s\S]*¥14\.00/);
    assert.ok(await anew.evaluate((el) => el.contains(document.activeElement)), 'the new card must have the focus');
    me.faults = me.faults.filter((fault) => !/status of 409/.test(fault)); // the browser notes the refusal, as it should be
    await me.shot('03c-anew');
    await anew.locator(byId('confirm-reject')).click();
    await until('the no', async () => (await anew.getAttribute('data-status')) === 'REJECTED');
    await me.answer();
    me.innocent();
  });

  test('the question survives a reload; a no orders nothing', async () => {
    const before = await me.orders();
    await me.ask('帮我订一份水煮牛肉。');
    await me.openCard();
    await me.reload();
    const card = await me.openCard();
    assert.match(await card.locator(byId('confirm-total')).innerText(), /32\.00/);
    assert.equal(await me.at('confirm-card', '[data-status="OPEN"]').count(), 1, 'there is one question, once');
    await card.locator(byId('confirm-reject')).click();
    await me.cardIs('REJECTED');
    const answer = await me.answer();
    assert.match(answer, /没有|未|取消|不会/, 'a no deserves a polite answer');
    assert.equal(await me.tool('place_order').first().getAttribute('data-status'), 'DENIED');
    assert.deepEqual((await me.orders()).map((o) => o.id), before.map((o) => o.id));
    await until('the orders to be read again', async () => (await me.at('order', '[data-status="CONFIRMED"]').count()) === before.length);
    await me.shot('05-rejected');

    await me.reload();
    await until('the history', async () => (await me.at('turn').count()) >= 2);
    assert.match(await me.at('chat-log').innerText(), /没有|未|取消|不会/);
    me.innocent();
  });

  test('a question that is asked again has a turn of its own, however late that is drawn', async () => {
    const slow = await Visitor.open(browser, { extraHTTPHeaders: { 'X-User-ID': `again-${process.pid}` } });
    await slow.ask('现在几点？');
    await slow.answer();
    await slow.page.evaluate(() => { globalThis.requestAnimationFrame = (draw) => setTimeout(draw, 400); });
    await slow.page.route('**/api/v1/runs', async (route) => { // its first event would draw it too
      await slow.page.waitForFunction(() => document.querySelectorAll('[data-testid="turn"]').length === 2);
      await route.continue();
    });
    await slow.ask('现在几点？');
    assert.equal(await slow.at('turn').count(), 2);
    await slow.answer();
    slow.innocent();
    await slow.page.context().close();
  });

  test('a skill that is switched off is not used', async () => {
    await me.newConversation();
    await me.at('tab-skills').click();
    const skill = me.at('skill', '[data-skill="builtin.weather"]');
    const locked = me.at('skill', '[data-skill="builtin.basics"]').locator(byId('skill-switch'));
    assert.ok(await locked.isDisabled(), 'the system skill is locked');
    const flip = skill.locator(byId('skill-switch'));
    assert.equal(await flip.getAttribute('aria-checked'), 'true');
    try {
      await flip.click();
      await until('the switch to be off', async () => (await skill.getAttribute('data-enabled')) === 'false');
      await me.ask('上海未来三天天气怎么样？');
      await me.answer();
      assert.equal(await me.tool('call_weather').count(), 0, 'the weather must not be asked for');
      await me.shot('06-skill-off');
    } finally {
      await until('the switch to be free', () => flip.isEnabled());
      await flip.click();
    }
    await until('the switch to be on', async () => (await skill.getAttribute('data-enabled')) === 'true');
    await me.ask('上海未来三天天气怎么样？');
    await me.answer();
    assert.equal(await me.tool('call_weather').first().getAttribute('data-status'), 'SUCCEEDED');
    await me.at('tab-orders').click();
    me.innocent();
  });

  test('markup that is typed stays text', async () => {
    await me.newConversation();
    for (const payload of PAYLOADS) {
      await me.ask(payload);
      await until('an end', async () => !['running', 'interrupted'].includes(await me.turn().getAttribute('data-status')));
    }
    const harmless = async () => {
      assert.equal(await me.page.evaluate(() => globalThis.__xss), undefined);
      assert.equal(await me.at('chat-log').locator('img, script, iframe, object, embed, [href^="javascript:"]').count(), 0);
      assert.equal(await me.at('conversations').locator('img, script, iframe').count(), 0);
      for (const link of await me.at('chat-log').locator('.markdown a[href]').all()) {
        assert.match(await link.getAttribute('rel'), /noopener/);
        assert.equal(await link.getAttribute('target'), '_blank');
      }
    };
    await harmless();
    await me.shot('07-markup');
    await me.reload();
    await until('the history', async () => (await me.at('turn').count()) === PAYLOADS.length);
    await harmless();
    me.innocent();
  });

  test('keys: Shift+Enter, composing, Enter, Esc', async () => {
    await me.newConversation();
    const box = me.at('message-input');
    await box.click();
    await box.pressSequentially('你是');
    await box.press('Shift+Enter');
    await box.pressSequentially('谁？');
    assert.equal(await box.inputValue(), '你是\n谁？');
    await box.evaluate((el) => {
      el.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', isComposing: true, bubbles: true, cancelable: true }));
      el.dispatchEvent(new KeyboardEvent('keydown', { key: 'Enter', keyCode: 229, bubbles: true, cancelable: true }));
    });
    assert.equal(await me.at('turn').count(), 0, 'an Enter of the input method must not send');
    const posts = me.sent(/^POST .*\/runs$/);
    await box.press('Enter');
    await box.press('Enter');
    await me.answer();
    assert.equal(me.sent(/^POST .*\/runs$/) - posts, 1, 'Enter twice sends once');

    const before = await me.orders();
    await me.ask('帮我订一份水煮牛肉。');
    const open = await me.openCard();
    await until('the card to have the focus', () => open.evaluate((el) => el.contains(document.activeElement)));
    await me.page.keyboard.press('Escape');
    assert.equal(await me.card().getAttribute('data-status'), 'OPEN', 'inside the card Esc decides nothing');
    await me.page.keyboard.press('Tab');
    await until('the first button', () => me.card().locator(byId('confirm-reject')).evaluate((el) => el === document.activeElement));
    await box.focus();
    await box.press('Escape');
    await me.cardIs('CANCELLED');
    await me.settled('cancelled');
    assert.equal((await me.orders()).length, before.length);
    await me.shot('08-stopped');
    me.innocent();
  });

  test('on a phone, in English, all there is to try can be seen', async () => {
    const phone = await Visitor.open(browser, { locale: 'en-GB', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true });
    await phone.at('welcome').waitFor();
    const { bottom } = await phone.at('sample', '[data-sample="walk"]').evaluate((el) => el.getBoundingClientRect().toJSON());
    const box = await phone.at('message-input').boundingBox();
    assert.ok(bottom < box.y, `the last one ends at ${bottom}, under the text box at ${box.y}`);
    await phone.page.context().close();
  });

  test('English', async () => {
    await me.newConversation();
    await me.otherLanguage();
    assert.equal(await me.page.locator('html').getAttribute('lang'), 'en');
    await until('the words in English', async () => /What would you like to eat/.test(await me.at('welcome').innerText()));
    await me.at('sample', '[data-sample="menu"]').click();
    assert.match(await me.answer(), /boiled beef/i);
    await me.ask('Order one Sichuan boiled beef for me.');
    const card = await me.openCard();
    assert.match(await card.innerText(), /Confirm the order[\s\S]*Menu of \w+[\s\S]*Sichuan boiled beef[\s\S]*Total[\s\S]*¥32\.00/);
    assert.deepEqual(await card.locator('button').allInnerTexts(), ['No, thanks', 'Change', 'Place order']);
    await me.shot('09-english');
    await card.locator(byId('confirm-reject')).click();
    await me.cardIs('REJECTED');
    assert.doesNotMatch(await card.innerText(), /Confirm/, 'what is decided asks no more');
    await me.answer();
    await me.reload();
    assert.equal(await me.page.locator('html').getAttribute('lang'), 'en', 'the choice must last');
    await me.otherLanguage();
    me.innocent();
  });

  test('dark, and on a phone', async () => {
    const phone = await Visitor.open(browser, { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true, colorScheme: 'dark' });
    const ground = () => phone.page.evaluate(() => getComputedStyle(document.body).backgroundColor);
    const dark = await ground();
    await phone.ask('今天食堂有什么菜？');
    await phone.answer();
    assert.ok(await phone.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing may stick out');
    await phone.shot('10-phone-dark');
    assert.ok(!(await phone.at('tab-orders').isVisible()), 'the panel is a drawer here');
    await phone.at('open-panel').click();
    await phone.at('tab-orders').waitFor();
    await phone.shot('11-phone-orders');
    await phone.page.keyboard.press('Escape');
    await phone.at('tab-orders').waitFor({ state: 'hidden' });
    await phone.at('theme').click();
    assert.notEqual(await ground(), dark, 'the switch must change the colours');
    phone.innocent();
    await phone.page.context().close();
  });
});

async function countsDown(timer) {
  const seconds = async () => {
    const [, minutes, rest] = /(\d+):(\d\d)/.exec(await timer.innerText()) || assert.fail('no countdown is shown');
    return Number(minutes) * 60 + Number(rest);
  };
  const first = await seconds();
  assert.ok(first > 0 && first <= 300, `a countdown of ${first} s`);
  await until('the countdown to move', async () => (await seconds()) < first, 5000);
}
