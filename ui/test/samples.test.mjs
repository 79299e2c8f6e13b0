// Asks every sample question (D-18 to D-27) in the page, in Chinese and in English: the right tools run
// and end, an order waits for its yes, the answer arrives in pieces, and prices are the catalog's.
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Visitor, byId, launch, unset, until } from './page.mjs';

const WALK = ['call_weather', 'list_menu_by_day', 'recall_preferences', 'recommend_food'];
const SAMPLES = [
  ['D-18', [], '你是谁？', 'Who are you?', /AgentMesh/],
  ['D-19', ['get_current_time'], '现在几点？', 'What time is it?', /\d\d:\d\d/],
  ['D-20', ['list_menu_by_day'], '今天食堂有什么菜？', "What's on the canteen menu today?", /32\.00/],
  ['D-21', ['search_food_catalog'], '水煮牛肉多少钱，还有库存吗？', 'How much is the Sichuan boiled beef, and is there any left?', /32\.00/],
  ['D-22', ['call_weather'], '上海未来三天天气怎么样？', 'What will the weather be like in Shanghai over the next three days?', /℃/],
  ['D-23', ['remember_preference'], '记住我不吃辣。', "Remember that I don't eat spicy food.", /不吃辣|spicy/],
  ['D-24', ['recall_preferences', 'recommend_food'], '结合我的偏好推荐一道菜。', 'Recommend a dish that fits my preferences.', /\d+\.00/],
  ['D-25', WALK, '今天上海天气怎么样，食堂有什么适合我的菜？', 'How is the weather in Shanghai today, and which canteen dishes suit me?', /℃/],
  ['D-26', ['place_order'], '帮我订一份水煮牛肉。', 'Please order one Sichuan boiled beef for me.', /order-[0-9a-f]+/],
  ['D-27', [...WALK, 'place_order'].sort(), '今天上海天气怎么样，食堂有什么适合我的菜？如果有水煮牛肉，再帮我订一份。',
    'How is the weather in Shanghai today, and which canteen dishes suit me? If there is Sichuan boiled beef, order one for me.', /order-[0-9a-f]+/],
];

describe('the sample questions in the page', { skip: unset, timeout: 300_000 }, () => {
  let browser;
  before(async () => { browser = await launch(); });
  after(() => browser?.close());

  for (const [locale, column] of [['zh-CN', 2], ['en-US', 3]]) {
    test(locale, async () => {
      const me = await Visitor.open(browser, { locale });
      for (const sample of SAMPLES) await askInPage(me, sample[0], sample[1], sample[column], sample[4]);
      await me.shot(`samples-${locale}`);
      me.innocent();
      await me.page.context().close();
    });
  }
});

async function askInPage(me, id, tools, question, says) {
  await me.newConversation();
  await me.page.evaluate(watchGrowth);
  await me.ask(question);
  if (tools.includes('place_order')) {
    const card = await me.openCard();
    assert.match(await card.locator(byId('confirm-total')).innerText(), /32\.00/, id);
    await card.locator(byId('confirm-accept')).click();
  }
  const answer = await me.answer();
  assert.match(answer, says, `${id}: ${answer}`);
  const cards = await me.turn().locator(byId('tool-card')).all();
  const ran = [];
  for (const card of cards) {
    ran.push(await card.getAttribute('data-tool'));
    assert.equal(await card.getAttribute('data-status'), 'SUCCEEDED', `${id}: ${ran.at(-1)}`);
  }
  assert.deepEqual(ran.sort(), tools, id);
  if (answer.length < 40) return; // said within the time in which pieces are collected
  await until(`${id}: the answer to have grown`, () => me.page.evaluate(() => window.sizes.size > 2));
}

/** Counts in the page how many sizes the answer has had: a whole one has one. */
function watchGrowth() {
  window.sizes = new Set();
  window.watcher?.disconnect();
  window.watcher = new MutationObserver(() => {
    const messages = document.querySelectorAll('[data-testid="assistant-message"]');
    if (messages.length) window.sizes.add(messages[messages.length - 1].textContent.length);
  });
  window.watcher.observe(document.body, { childList: true, subtree: true, characterData: true });
}
