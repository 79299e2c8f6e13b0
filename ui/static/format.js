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

export function duration(ms) {
  if (!Number.isFinite(ms)) return '';
  if (ms < 1) return '<1 ms';
  if (ms < 1000) return `${Math.round(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
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
