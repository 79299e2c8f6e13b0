// How a view looks: in both themes and both widths, whether everything fits, can be read, and has a name.
import assert from 'node:assert/strict';

export const looks = [
  { name: 'light', options: { colorScheme: 'light' } },
  { name: 'dark', options: { colorScheme: 'dark' } },
  { name: 'phone-light', options: { colorScheme: 'light', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } },
  { name: 'phone-dark', options: { colorScheme: 'dark', viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true } },
];

/** A view must fit its width, be readable and usable; then its picture is taken. */
export async function looksRight(me, name) {
  await me.page.evaluate(settled);
  assert.ok(await me.page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${name}: nothing may stick out`);
  assert.deepEqual(await me.page.evaluate(sidewaysBoxes), [], `${name}: boxes that scroll sideways`);
  assert.deepEqual(await me.page.evaluate(cutOff), [], `${name}: controls that the edge cuts off`);
  assert.deepEqual(await me.page.evaluate(covered), [], `${name}: tool rows whose words lie on each other or are lost`);
  assert.deepEqual(await me.page.evaluate(paleTexts), [], `${name}: text that is hard to read`);
  assert.deepEqual(await me.page.evaluate(nameless), [], `${name}: controls without a name`);
  assert.equal(await me.page.locator('h1').count(), 1, `${name}: one title`);
  await me.shot(name);
}

/** Waits for what moves or changes colour to come to its end; what moves forever is not waited for. */
function settled() {
  const ends = document.getAnimations().filter((one) => one.effect.getComputedTiming().endTime !== Infinity);
  return Promise.all(ends.map((one) => one.finished.catch(() => {})));
}

/** Boxes of the middle that are wider inside than outside, but for code. */
function sidewaysBoxes() {
  return [...document.querySelectorAll('main *')]
    .filter((el) => el.scrollWidth > el.clientWidth + 1 && ['auto', 'scroll'].includes(getComputedStyle(el).overflowX) && el.tagName !== 'PRE')
    .map((el) => el.className);
}

/** Controls that are to be seen and yet reach over the left or right edge. */
function cutOff() {
  return [...document.querySelectorAll('button, a[href], select, input, textarea, summary')]
    .filter((el) => el.checkVisibility({ visibilityProperty: true }) && !el.closest('.skip'))
    .map((el) => [el, el.getBoundingClientRect()])
    .filter(([, box]) => box.left < 0 || box.right > innerWidth)
    .map(([el, box]) => `${el.textContent.trim().slice(0, 30)} from ${Math.round(box.left)} to ${Math.round(box.right)} of ${innerWidth}`);
}

/** Rows of tools in which the name runs under what follows it, or what was asked has no room to be read. */
function covered() {
  const boxOf = (node) => {
    const range = document.createRange();
    range.selectNodeContents(node);
    return range.getBoundingClientRect();
  };
  const least = (hint) => (innerWidth < 800 ? hint.scrollWidth : Math.min(40, hint.scrollWidth)); // where there is room for a line only, its beginning does
  const meet = (a, b) => a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1;
  return [...document.querySelectorAll('.tool summary')].filter((row) => {
    const name = boxOf(row.querySelector('.tool-name'));
    const hint = row.querySelector('.tool-hint');
    const others = [...row.querySelectorAll('.badge, .tool-status')].map(boxOf);
    return others.some((one) => meet(name, one)) || (hint.textContent && hint.clientWidth < least(hint));
  }).map((row) => row.textContent);
}

/** Texts with less contrast than WCAG's AA asks for: 4.5, large ones 3. */
function paleTexts() {
  const canvas = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const rgba = (color) => {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = color;
    canvas.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = canvas.getImageData(0, 0, 1, 1).data;
    return [r, g, b, a / 255];
  };
  const over = ([r, g, b, a], under) => [r, g, b].map((v, i) => v * a + under[i] * (1 - a));
  const ground = (el) => {
    const under = el.parentElement ? ground(el.parentElement) : [255, 255, 255];
    return over(rgba(getComputedStyle(el).backgroundColor), under);
  };
  const luminance = (rgb) => {
    const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const pale = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const text = walker.currentNode.data.trim();
    const el = walker.currentNode.parentElement;
    if (!text || !el.checkVisibility({ visibilityProperty: true }) || el.closest('.sr-only, :disabled, noscript')) continue;
    const style = getComputedStyle(el);
    const under = ground(el);
    const [lighter, darker] = [luminance(over(rgba(style.color), under)), luminance(under)].sort((x, y) => y - x);
    const ratio = (lighter + 0.05) / (darker + 0.05);
    const size = parseFloat(style.fontSize);
    const large = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) pale.add(`${el.className || el.tagName} ${ratio.toFixed(2)}: ${text.slice(0, 30)}`);
  }
  return [...pale];
}

/** Buttons, links and fields that a screen reader could not name. */
function nameless() {
  return [...document.querySelectorAll('button, a[href], select, input, textarea, summary')]
    .filter((el) => !(el.textContent.trim() && el.tagName !== 'SELECT') && !el.getAttribute('aria-label') && !el.labels?.length)
    .map((el) => el.outerHTML.slice(0, 120));
}
