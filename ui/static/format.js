/** Money, times, durations and errors as people read them. */
import { lang, t } from './i18n.js';

/** Yuan from integer fen, without floats: 3200 → "32.00". */
export function yuan(fen) {
  if (!Number.isInteger(fen)) return '';
  const digits = String(Math.abs(fen)).padStart(3, '0');
  return `${fen < 0 ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}

export function money(fen) {
  return `¥${yuan(fen)}`;
}

function locale() {
  return lang() === 'zh' ? 'zh-CN' : 'en-GB';
}

/** A calendar day without a time: 2026-11-30. */
export function day(date) {
  const when = new Date(`${date}T00:00:00`);
  if (Number.isNaN(when.getTime())) return date || '';
  return when.toLocaleDateString(locale(), { month: 'short', day: 'numeric', weekday: 'short' });
}

/** Today: the time; earlier: the day too. */
export function moment(when) {
  const date = new Date(when);
  if (Number.isNaN(date.getTime())) return '';
  const time = { hour: '2-digit', minute: '2-digit' };
  if (date.toDateString() === new Date().toDateString()) return date.toLocaleTimeString(locale(), time);
  return date.toLocaleString(locale(), { month: 'short', day: 'numeric', ...time });
}

/** In the two largest units: 4 d 2 h. */
export function duration(ms) {
  if (!Number.isFinite(ms)) return '';
  const [day, hour, minute, second, milli] = t('units').split(' ');
  if (ms < 1) return `<1 ${milli}`;
  if (ms < 999.5) return `${Math.round(ms)} ${milli}`;
  if (ms < 59_950) return `${(ms / 1000).toFixed(1)} ${second}`;
  const seconds = Math.round(ms / 1000);
  if (seconds < 3600) return pair(seconds, 60, minute, second);
  const minutes = Math.round(seconds / 60);
  if (minutes < 1440) return pair(minutes, 60, hour, minute);
  return pair(Math.round(minutes / 60), 24, day, hour);
}

function pair(n, per, big, small) {
  return `${Math.floor(n / per)} ${big}${n % per ? ` ${n % per} ${small}` : ''}`;
}

/** Minutes and seconds of a countdown: 4:07. */
export function countdown(ms) {
  const left = Math.max(0, Math.ceil(ms / 1000));
  return `${Math.floor(left / 60)}:${String(left % 60).padStart(2, '0')}`;
}

/** What to tell a person about a failed request. */
export function why(err) {
  return err.status === 0 ? t('error.network') : err.message;
}
