/**
 * A turn is one question and what came of it. This file folds AG-UI events, and
 * stored messages, into turns. It draws nothing and asks the server nothing.
 *
 * @typedef {{type: 'text', id: string, text: string, done: boolean}} TextPart
 * @typedef {{type: 'tool', id: string, name: string, args: string, result?: string, status: string,
 *   kind: string, durationMs?: number, lines?: object[]}} ToolPart lines: of the order that was asked about
 * @typedef {{type: 'confirm', id: string, status: string, toolCallId: string}} ConfirmPart
 */

let nextKey = 1;

/** @param {{text?: string, runId?: string, at?: string, live?: boolean}} from */
export function newTurn({ text = '', runId = '', at = '', live = false }) {
  return {
    key: nextKey++,
    runId,
    text,
    at: at || new Date().toISOString(),
    parts: [],
    skills: [],
    tells: false, // of a task that ended: nobody asked
    usage: null,
    status: 'running', // running, interrupted, done, cancelled, failed
    error: null,
    lastId: '', // the event id to reconnect after
    live, // announced to screen readers, focus moved to its card
    reconnecting: false,
    stopping: false,
    version: 0,
  };
}

export function isActive(turn) {
  return turn.status === 'running' || turn.status === 'interrupted';
}

export function openConfirmation(turn) {
  return turn.parts.find((part) => part.type === 'confirm' && part.status === 'OPEN');
}

/** Forgets what events told, before they are told again from the start. */
export function rewind(turn) {
  turn.parts = [];
  turn.skills = [];
  turn.lastId = '';
}

/** Folds one event into its turn. Unknown events change nothing. */
export function applyEvent(turn, event, id) {
  const meta = event.metadata?.agentmesh || {};
  if (id) turn.lastId = id;
  if (meta.runId) turn.runId = meta.runId;
  const handle = handlers[event.type];
  if (!handle) return;
  if (turn.status === 'interrupted') turn.status = 'running'; // it goes on
  handle(turn, event, meta);
  turn.version++;
}

const handlers = {
  RUN_STARTED(turn) {
    turn.status = 'running';
  },
  TEXT_MESSAGE_START(turn, { messageId }) {
    const part = findPart(turn, 'text', messageId);
    if (part) part.text = ''; // told again from its start
    else turn.parts.push({ type: 'text', id: messageId, text: '', done: false });
  },
  TEXT_MESSAGE_CONTENT(turn, { messageId, delta }) {
    let part = findPart(turn, 'text', messageId);
    if (!part) turn.parts.push((part = { type: 'text', id: messageId, text: '', done: false }));
    part.text += delta ?? '';
  },
  TEXT_MESSAGE_END(turn, { messageId }, meta) {
    const part = findPart(turn, 'text', messageId);
    if (part) Object.assign(part, { done: true, abandoned: Boolean(meta.abandoned) });
  },
  REASONING_MESSAGE_START(turn, { messageId }) {
    putThought(turn, messageId, '');
  },
  REASONING_MESSAGE_CONTENT(turn, { messageId, delta }) {
    findPart(turn, 'thought', messageId).text += delta;
  },
  TOOL_CALL_START(turn, { toolCallId, toolCallName }, meta) {
    const part = toolPart(turn, toolCallId);
    part.name = toolCallName;
    part.args = '';
    part.kind = meta.kind || part.kind;
  },
  TOOL_CALL_ARGS(turn, { toolCallId, delta }) {
    toolPart(turn, toolCallId).args += delta ?? '';
  },
  TOOL_CALL_RESULT(turn, { toolCallId, content }, meta) {
    const part = toolPart(turn, toolCallId); // maybe one we do not hold: an earlier run's
    part.result = typeof content === 'string' ? content : JSON.stringify(content);
    part.status = meta.status || statusOf(part.result);
    part.kind = meta.kind || part.kind;
    part.durationMs = meta.durationMs;
    part.taskId = taskOf(part.result);
  },
  CUSTOM(turn, { name, value = {} }) {
    if (name === 'model_retry') noteContext(turn, { how: 'again', ...value });
    if (name === 'context_compressed') noteContext(turn, value);
    if (name === 'skills_routed') turn.skills = value.skills || [];
    if (name === 'tool_confirmation_required') askConfirmation(turn, value);
    if (name === 'tool_confirmation_resolved') resolveConfirmation(turn, value);
    if (name === 'task_ended' && value.runId === turn.runId) endTask(turn, value);
    else if (name === 'task_ended') turn.tells = true;
  },
  RUN_FINISHED(turn, { outcome, usage }) {
    if (outcome?.type === 'interrupt') {
      turn.status = 'interrupted';
      return;
    }
    turn.usage = usage || null;
    endTurn(turn, 'done');
  },
  RUN_ERROR(turn, { message, code }) {
    if (code === 'cancelled') endTurn(turn, 'cancelled');
    else endTurn(turn, 'failed', { code: code || '', message: message || '' });
  },
};

/** What the model thought stands before what it said, whichever of them came first. */
function putThought(turn, id, text) {
  let part = findPart(turn, 'thought', id);
  if (!part) {
    part = { type: 'thought', id };
    const at = turn.parts.findIndex((one) => one.type === 'text' && `${one.id}-reasoning` === id);
    turn.parts.splice(at < 0 ? turn.parts.length : at, 0, part);
  }
  part.text = text;
}

/** A line that says that the model no longer reads all that was said; told again, it is the same line. */
function noteContext(turn, { how, beforeTokens, afterTokens, llmCallId }) {
  const id = `note-${llmCallId || beforeTokens}-${afterTokens}`;
  if (!findPart(turn, 'note', id)) turn.parts.push({ type: 'note', id, how });
}

/** Puts the card in place, or brings it up to date. */
export function askConfirmation(turn, confirmation) {
  const { confirmationId: id } = confirmation;
  const part = findPart(turn, 'confirm', id);
  if (part) Object.assign(part, confirmation);
  else turn.parts.push({ ...confirmation, type: 'confirm', id, status: confirmation.status || 'OPEN' });
  const tool = findPart(turn, 'tool', confirmation.toolCallId);
  if (tool) tool.lines = confirmation.summary?.lines;
  if (tool && tool.status === 'RUNNING') tool.status = 'WAITING';
  if (turn.status === 'interrupted' && !turn.runId) turn.runId = confirmation.runId;
  turn.version++;
}

/** Records a decision: from the stream, or from the answer to our own POST. */
export function resolveConfirmation(turn, { confirmationId, status, answer, reason, edited, replacedBy, decidedBy, decidedAt }) {
  const part = findPart(turn, 'confirm', confirmationId);
  if (!part) return;
  Object.assign(part, { status, problem: '' });
  if (answer) part.answer = answer;
  if (reason) part.reason = reason;
  if (edited) part.edited = edited;
  if (replacedBy) part.replacedBy = replacedBy;
  if (decidedBy) part.decidedBy = decidedBy;
  if (decidedAt) part.decidedAt = decidedAt;
  const tool = findPart(turn, 'tool', part.toolCallId);
  if (tool && edited) Object.assign(tool, { args: JSON.stringify(edited.args), lines: edited.summary?.lines });
  if (tool && tool.status === 'WAITING') tool.status = 'RUNNING';
  turn.version++;
}

/** Puts the outcome of what went on in the background into its card. */
export function endTask(turn, { taskId, status, result }) {
  const part = turn.parts.find((one) => one.taskId === taskId);
  if (!part || part.status !== 'OFFLOADED') return;
  Object.assign(part, { status, result: JSON.stringify(result), durationMs: undefined });
  turn.version++;
}

/** Ends a turn; nothing in it may look unfinished afterwards. */
export function endTurn(turn, status, error = null) {
  turn.status = status;
  turn.error = error;
  turn.reconnecting = false;
  turn.stopping = false;
  for (const part of turn.parts) {
    if (part.type === 'text') part.done = true;
    if (part.type === 'tool' && isRunning(part)) part.status = { failed: 'FAILED', done: 'INPUT_REQUIRED' }[status] || 'CANCELLED'; // done without it: it is left to another application
    if (part.type === 'confirm' && part.status === 'OPEN') part.status = 'CANCELLED';
  }
  turn.version++;
}

export function isRunning(part) {
  return part.status === 'RUNNING' || part.status === 'WAITING';
}

function findPart(turn, type, id) {
  return turn.parts.find((part) => part.type === type && part.id === id);
}

function toolPart(turn, id) {
  let part = findPart(turn, 'tool', id);
  if (!part) {
    part = { type: 'tool', id, name: '', args: '', status: 'RUNNING', kind: '' };
    turn.parts.push(part);
  }
  return part;
}

/** Results of calls that were not run to their end. */
const NOT_RUN = new Set(['DENIED', 'FAILED', 'CANCELLED', 'INDETERMINATE', 'REFUSED']);

/** The task of a call that went on in the background, by what stands in for its result. */
function taskOf(content) {
  try {
    const { status, taskId } = JSON.parse(content);
    return status === 'OFFLOADED' ? taskId : undefined;
  } catch {
    return undefined;
  }
}

/** What a stored result says about how the call went. */
function statusOf(content) {
  if (taskOf(content)) return 'OFFLOADED';
  try {
    const value = JSON.parse(content);
    if (value?.error) return 'FAILED';
    if (NOT_RUN.has(value?.status) && value.reason) return value.status;
  } catch { /* plain text is a success */ }
  return 'SUCCEEDED';
}

/** Whether a result is what the person said of the call, not its own. */
export function isSaid(result) {
  try {
    return /^said_/.test(JSON.parse(result)?.reason);
  } catch {
    return false;
  }
}

/** Builds turns from GET /conversations/{id}/messages. */
export function turnsOf(messages) {
  const turns = [];
  for (const message of messages) {
    let turn = turns.at(-1);
    if (message.role === 'user' || !turn || (message.runId && turn.runId !== message.runId)) {
      turn = newTurn({ runId: message.runId, at: message.createdAt });
      turn.status = statusOfRun(message.runStatus);
      turns.push(turn);
    }
    addMessage(turn, message);
  }
  for (const turn of turns) if (!isActive(turn)) endTurn(turn, turn.status);
  return turns;
}

function addMessage(turn, message) {
  if (message.role === 'user') turn.text = message.content;
  if (message.role === 'tool') {
    const part = toolPart(turn, message.toolCallId);
    part.result = message.content;
    part.status = statusOf(message.content);
    part.taskId = taskOf(message.content);
  }
  if (message.role === 'hint' && !turn.text) turn.tells = true;
  if (message.role !== 'assistant') return;
  if (message.reasoning) putThought(turn, `${message.id}-reasoning`, message.reasoning);
  if (message.content) turn.parts.push({ type: 'text', id: message.id, text: message.content, done: true, abandoned: Boolean(message.abandoned) });
  for (const called of message.toolCalls || []) {
    Object.assign(toolPart(turn, called.id), { name: called.name, args: called.arguments || '' });
  }
}

function statusOfRun(status) {
  if (status === 'FAILED') return 'failed';
  if (status === 'CANCELLED') return 'cancelled';
  return isRunActive(status) ? 'running' : 'done';
}

/** Whether a run of this status still has events to come. */
export function isRunActive(status) {
  return status === 'PENDING' || status === 'RUNNING' || status === 'AWAITING_CONFIRMATION';
}
