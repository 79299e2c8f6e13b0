/** Draws one turn: the question, the routed skills, answers, tool calls and cards in the order they came. */
import { Component, html, useEffect } from './vendor/htm-preact.js';
import { announce } from './announce.js';
import { ConfirmCard } from './confirm.js';
import { moment } from './format.js';
import { known, lang, pick, t } from './i18n.js';
import { Icon } from './icons.js';
import { Markdown, splitBlocks } from './markdown.js';
import { runAddress } from './place.js';
import { ToolCard } from './toolcard.js';
import { isActive, openConfirmation } from './turn.js';

/** Redrawn only when its version, or the language, changes: a long conversation stays cheap. */
export class TurnView extends Component {
  shouldComponentUpdate(next) {
    const { turn, version, language, tools } = this.props;
    return next.turn !== turn || next.version !== version || next.language !== language || next.tools !== tools;
  }

  render({ turn, chat, tools }) {
    const decide = (part) => (decision, args) => chat.decide(turn, part, decision, args);
    return html`<article class="turn" data-testid="turn" data-status=${turn.status}>
      ${turn.text && html`<div class="question" data-testid="user-message">
        <span class="sr-only">${t('chat.you')}: </span><p>${turn.text}</p>
      </div>`}
      ${turn.tells && !turn.text && html`<p class="routed" data-testid="task-told">${t('chat.tells')}</p>`}
      <div class="answer">
        <span class="sr-only">${t('chat.assistant')}: </span>
        <${Skills} skills=${turn.skills} />
        ${groups(turn.parts).map((group) => group.tools
          ? html`<div class="tools" key=${group.key}>
              ${group.tools.map((part) => html`<${ToolCard} key=${part.id} part=${part} tools=${tools} onStop=${(one) => chat.watchTasks(one)} />`)}
            </div>`
          : html`<${Part} key=${group.key} part=${group.part} turn=${turn} onDecide=${decide(group.part)} />`)}
        <${State} turn=${turn} />
        ${turn.runId && html`<p class="foot"><a href=${runAddress(turn.runId)} data-testid="run-link">${t('chat.run')}</a></p>`}
      </div>
    </article>`;
  }
}

/** Neighbouring tool calls share one frame. */
function groups(parts) {
  const out = [];
  for (const part of parts) {
    if (part.type === 'tool' && out.at(-1)?.tools) out.at(-1).tools.push(part);
    else if (part.type === 'tool') out.push({ key: `tools-${part.id}`, tools: [part] });
    else if (part.type !== 'text' || part.text) out.push({ key: part.id, part });
  }
  return out;
}

function Part({ part, turn, onDecide }) {
  if (part.type === 'confirm') {
    const tool = turn.parts.find((p) => p.type === 'tool' && p.id === part.toolCallId);
    return html`<${ConfirmCard} part=${part} result=${tool?.result} live=${turn.live} onDecide=${onDecide} />`;
  }
  if (part.type === 'thought') {
    return html`<details class="foot" data-testid="thought"><summary>${t('chat.thought')}</summary><p>${part.text}</p></details>`;
  }
  if (part.type === 'note') return html`<p class="foot" data-testid="context-note">${t(`chat.context.${part.how}`)}</p>`;
  if (part.abandoned && !part.text) return null;
  return html`<div data-testid="assistant-message" data-done=${String(part.done)} class=${part.abandoned ? 'abandoned' : ''}>
    <${Markdown} text=${part.text} done=${part.done} />
    ${part.abandoned && html`<p class="unfinished">${t('chat.unfinished')}</p>`}
    ${turn.live && html`<${Announcer} text=${part.text} done=${part.done} />`}
  </div>`;
}

/** Reads out each block once it is finished, never single pieces. */
function Announcer({ text, done }) {
  const blocks = splitBlocks(text);
  const finished = done ? blocks.length : blocks.length - 1;
  useEffect(() => {
    if (finished > 0) announce(blocks[finished - 1]);
  }, [finished]);
  return null;
}

function Skills({ skills }) {
  if (!skills.length) return null;
  return html`<p class="routed" data-testid="routed-skills">
    <span>${t('chat.routed')}</span>
    ${skills.map((skill) => html`<span class="routed-skill" key=${skill.id} title=${skill.reason || ''} data-skill=${skill.id}>
      ${pick(skill, 'name') || skill.id}
    </span>`)}
  </p>`;
}

/** Where the turn stands, in words: under the answer while it runs, and after an end that is not a success. */
function State({ turn }) {
  if (turn.reconnecting) return html`<p class="state is-busy" data-testid="turn-state"><span class="spinner"></span>${t('chat.reconnecting')}</p>`;
  if (turn.stopping && isActive(turn)) return html`<p class="state is-busy"><span class="spinner"></span>${t('composer.stopping')}</p>`;
  if (turn.status === 'interrupted') return html`<p class="state" data-testid="turn-state">${t('chat.interrupted')}</p>`;
  if (turn.status === 'running') return html`<${Working} turn=${turn} />`;
  if (turn.status === 'cancelled') {
    return html`<p class="state" data-testid="turn-state"><${Icon} name="minus" size="15" />${t('chat.cancelled')}</p>`;
  }
  if (turn.status === 'failed') return html`<${Failure} error=${turn.error} />`;
  return html`<${Foot} turn=${turn} />`;
}

function Working({ turn }) {
  if (openConfirmation(turn)) return html`<p class="state" data-testid="turn-state">${t('chat.waiting')}</p>`;
  const last = turn.parts.at(-1);
  if (last?.type === 'text' && !last.done && last.text) return null; // the words themselves move
  return html`<p class="state is-busy" data-testid="turn-state"><span class="dots" aria-hidden="true"><i></i><i></i><i></i></span>${t('chat.working')}</p>`;
}

function Failure({ error }) {
  const why = known(`error.${error?.code}`, error?.message);
  return html`<p class="state is-bad" role="alert" data-testid="turn-error">
    <${Icon} name="warn" size="16" /><span><strong>${t('chat.failed')}</strong>${why && ` · ${why}`}</span>
  </p>`;
}

function Foot({ turn }) {
  const tokens = (turn.usage || []).reduce((sum, one) => sum + (one.totalTokens || 0), 0);
  const empty = !turn.parts.some((part) => part.type === 'text' && part.text) && !turn.parts.length;
  return html`<p class="foot">
    ${empty && html`<span>${t('chat.unanswered')} · </span>`}
    <time datetime=${turn.at}>${moment(turn.at)}</time>
    ${tokens > 0 && html`<span> · ${t('chat.usage', { tokens: tokens.toLocaleString(lang()) })}</span>`}
  </p>`;
}
