/** The words of the page in two languages. Names from the server carry both and are picked here. */
import zh from './lang/zh.js';
import en from './lang/en.js';
import { keep } from './ids.js';

const dictionaries = { zh, en };
const listeners = new Set();
let current = document.documentElement.lang.startsWith('zh') ? 'zh' : 'en';

export function lang() {
  return current;
}

export function setLang(next) {
  if (!dictionaries[next]) return;
  current = next;
  keep('lang', next);
  document.documentElement.lang = next === 'zh' ? 'zh-CN' : 'en';
  for (const tell of listeners) tell(next);
}

export function onLang(tell) {
  listeners.add(tell);
  return () => listeners.delete(tell);
}

/** The text of key, with {name} replaced from values. */
export function t(key, values) {
  const text = dictionaries[current][key] ?? key;
  return values ? text.replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole) : text;
}

/** The text of the first key that the dictionary has, else the fallback. */
export function known(key, fallback) {
  return dictionaries[current][key] ?? fallback;
}

/** A field that the server sends twice: name and nameEn. */
export function pick(thing, field) {
  const english = thing?.[`${field}En`];
  return (current === 'en' && english) || thing?.[field] || english || '';
}
