/**
 * One conversation: sends input, follows runs to their end, decides and stops.
 * Streams may break at any time; the run's event log is the truth, and follow()
 * reads it again from where the last connection stood.
 */
import * as api from './api.js';
import { newId } from './ids.js';
import { readEvents } from './stream.js';
import {
  applyEvent, askConfirmation, endTurn, isActive, isRunActive, newTurn, openConfirmation, resolveConfirmation, rewind,
  turnsOf,
} from './turn.js';

const STOP_PATIENCE_MS = 5000;
const ENRICHED_TURNS = 10;

export class Chat {
  /**
   * @param {string} threadId
   * @param {{onChange: () => void, onSettled: () => void}} hooks onSettled: the server's lists may have changed
   * @param {boolean} fresh a conversation that the server does not know yet
   */
  constructor(threadId, hooks, fresh = false) {
    this.threadId = threadId;
    this.hooks = hooks;
    this.turns = [];
    this.fresh = fresh;
    this.loading = false;
    this.loadError = null;
    this.gone = false; // the server has no such conversation, or no longer
    this.notice = null; // {code, detail}: why the last message was not taken
    this.draft = ''; // its text, given back to the box
    this.wakers = new Set();
  }

  get active() {
    return this.turns.find(isActive);
  }

  changed(turn) {
    if (turn) turn.version++;
    this.hooks.onChange();
  }

  /** Reads the conversation, then follows what is still running in it. */
  async load() {
    if (this.fresh || this.loading) return;
    this.loading = true;
    this.loadError = null;
    this.gone = false;
    this.changed();
    try {
      this.turns = turnsOf(await api.list(`/conversations/${encodeURIComponent(this.threadId)}/messages`));
    } catch (err) {
      if (err.status === 404) this.gone = true;
      else this.loadError = err;
    }
    this.loading = false;
    if (!this.loadError) await this.sync();
    this.changed();
    this.watchTasks();
    this.enrich();
  }

  /** Finds runs of this conversation that go on without us: after a reload, or started elsewhere. */
  async sync() {
    if (this.fresh || this.sending) return;
    const thread = encodeURIComponent(this.threadId);
    const [runs, open] = await Promise.all([
      api.list(`/runs?threadId=${thread}`).catch(() => []),
      api.list('/confirmations?status=open').catch(() => []),
    ]);
    if (this.sending) return; // its run is in the list, but its turn does not know the id yet
    const questions = open.filter((item) => item.threadId === this.threadId);
    const ids = new Set(runs.filter((run) => isRunActive(run.status)).map((run) => run.id || run.runId));
    for (const question of questions) ids.add(question.runId);
    for (const turn of this.turns) if (isActive(turn) && turn.runId) ids.add(turn.runId);
    for (const id of ids) {
      const turn = this.turnOfRun(id);
      if (turn.followed) continue;
      turn.status = 'running';
      for (const question of questions) if (question.runId === id) askConfirmation(turn, question);
      this.follow(turn);
    }
    this.changed();
    await this.nameTurns();
  }

  /** What goes on in the background ends outside of any stream, and so begins the run that tells of it. */
  async watchTasks(part) {
    if (!part && !this.turns.some((turn) => turn.parts.some(({ taskId }) => taskId))) return;
    this.tasks ??= import('./tasks.js').then(({ Tasks }) => new Tasks(this));
    const tasks = await this.tasks;
    if (part) tasks.stop(part);
    else tasks.watch();
  }

  /** A run that was started elsewhere: its events do not repeat the question, the messages do. */
  async nameTurns() {
    const unnamed = this.turns.filter((turn) => turn.runId && !turn.text && !turn.tells);
    if (!unnamed.length) return;
    const messages = await api.list(`/conversations/${encodeURIComponent(this.threadId)}/messages`).catch(() => []);
    for (const turn of unnamed) {
      turn.text = messages.find((m) => m.role === 'user' && m.runId === turn.runId)?.content || '';
      this.changed(turn);
    }
  }

  /** Whether a message is on its way whose run has no id yet. */
  get sending() {
    return this.turns.some((turn) => turn.followed && !turn.runId);
  }

  turnOfRun(id) {
    let turn = this.turns.find((t) => t.runId === id);
    if (!turn) this.turns.push((turn = newTurn({ runId: id })));
    turn.live = true;
    return turn;
  }

  /** Stored messages lack durations, skills and decisions; the event logs of the latest turns have them. */
  async enrich() {
    const turns = this.turns.filter((t) => !t.followed && t.runId && t.parts.some((p) => p.type === 'tool'));
    for (const turn of turns.slice(-ENRICHED_TURNS).reverse()) {
      try {
        const copy = newTurn({ text: turn.text, runId: turn.runId, at: turn.at });
        await readEvents(await this.events(copy), (event, id) => applyEvent(copy, event, id));
        if (isActive(copy) || copy.parts.length < turn.parts.length) continue;
        Object.assign(turn, { ...copy, key: turn.key });
        this.changed(turn);
      } catch { /* the messages are shown as they are */ }
    }
  }

  /** Sends one message; false when it was not taken. */
  send(text) {
    const content = text.trim();
    if (content && this.active && openConfirmation(this.active)) {
      this.notice = { code: 'confirmation_open' };
      this.changed();
    }
    if (!content || this.active) return false;
    const turn = newTurn({ text: content, live: true });
    this.turns.push(turn);
    this.notice = null;
    this.fresh = false;
    const input = {
      threadId: this.threadId,
      runId: newId('run'),
      messages: [{ id: newId('msg'), role: 'user', content }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    };
    this.follow(turn, () => api.call('POST', '/runs', { body: input, headers: { Accept: 'text/event-stream' } }));
    this.changed();
    return true;
  }

  events(turn) {
    const headers = { Accept: 'text/event-stream' };
    if (turn.lastId) headers['Last-Event-ID'] = turn.lastId;
    return api.call('GET', `/runs/${encodeURIComponent(turn.runId)}/events`, { headers });
  }

  /** Reads a run's events until its end, through as many connections as that takes. */
  async follow(turn, start) {
    turn.followed = true;
    for (let attempt = 0; isActive(turn); attempt++) {
      if (attempt > 0) await this.pause(attempt, turn.status === 'interrupted' ? 3000 : 10_000);
      if (!isActive(turn)) break;
      try {
        const response = start ? await start() : await this.events(turn);
        this.connected(turn, response);
        let again = !turn.lastId && !start;
        start = null;
        await readEvents(response, (event, id) => {
          if (again) rewind(turn); // told from the start: what we hold comes once more
          again = false;
          attempt = 0;
          this.apply(turn, event, id);
        });
      } catch (err) {
        if (this.lostFor(turn, err, start)) return;
        start = null;
      }
      if (isActive(turn)) this.broken(turn);
    }
    turn.followed = false;
    this.settled(turn);
  }

  connected(turn, response) {
    turn.runId = response.headers.get('X-Run-Id') || turn.runId;
    turn.reconnecting = false;
    this.changed(turn);
    if (turn.stopping) this.requestStop(turn);
  }

  broken(turn) {
    if (!turn.runId) {
      endTurn(turn, 'failed', { code: 'network', message: '' });
      return;
    }
    turn.reconnecting = turn.status !== 'interrupted';
    this.changed(turn);
  }

  /** Handles a failed connection; true when there is nothing left to follow. */
  lostFor(turn, err, start) {
    const refused = err.status >= 400 && err.status < 500 && err.status !== 429 && err.status !== 408;
    if (start) this.refused(turn, err);
    else if (refused) endTurn(turn, 'failed', { code: err.status === 404 || err.status === 410 ? 'lost' : err.code, message: err.message });
    if (!start && !refused) return false;
    turn.followed = false;
    this.settled(turn);
    return true;
  }

  /** The server did not take the message: it goes back into the box. */
  refused(turn, err) {
    this.turns = this.turns.filter((t) => t !== turn);
    this.notice = { code: err.code, detail: err.message };
    this.draft = turn.text;
    const question = err.problem?.confirmation;
    if (question?.confirmationId) {
      const asked = this.turnOfRun(question.runId);
      askConfirmation(asked, question);
      if (!asked.followed) {
        asked.status = 'running';
        this.follow(asked);
        this.nameTurns();
      }
    } else if (err.status === 0 || err.status === 409) {
      this.sync(); // it may have arrived all the same, or another tab was first
    }
    this.changed();
  }

  apply(turn, event, id) {
    applyEvent(turn, event, id);
    if (event.metadata?.agentmesh?.taskId || event.name === 'task_ended') this.watchTasks();
    const question = event.type === 'CUSTOM' && event.name?.startsWith('tool_confirmation_');
    if (question || event.type === 'RUN_STARTED') this.hooks.onSettled();
    this.hooks.onChange();
  }

  settled(turn) {
    const met = ['confirmation_open', 'stop'].includes(this.notice?.code) && !this.question;
    if (met && this.turns.includes(turn)) this.notice = null; // what it asked for is done
    this.changed(turn);
    this.hooks.onSettled();
  }

  /** Stops the active run at the server. Before its id is known, the wish is kept. */
  stop() {
    const turn = this.active;
    if (!turn || turn.stopping) return;
    turn.stopping = true;
    this.changed(turn);
    if (turn.runId) this.requestStop(turn);
  }

  async requestStop(turn) {
    if (turn.stopSent) return;
    turn.stopSent = true;
    try {
      await api.post(`/runs/${encodeURIComponent(turn.runId)}/cancel`, {});
      setTimeout(() => {
        if (!isActive(turn)) return;
        endTurn(turn, 'cancelled'); // the server has it; only its last event did not reach us
        this.settled(turn);
      }, STOP_PATIENCE_MS);
    } catch (err) {
      turn.stopping = false;
      turn.stopSent = false;
      this.notice = { code: 'stop', detail: err.message };
    }
    this.wake();
    this.changed(turn);
  }

  /** Sends a decision once, however often it is clicked. @param {string} decision confirm, reject, or what happened @param {object} [args] edited ones */
  async decide(turn, part, decision, args) {
    if (part.sending || part.status !== 'OPEN') return;
    part.sending = decision;
    part.problem = '';
    this.changed(turn);
    try {
      const after = part.kind === 'outcome';
      const path = `/runs/${encodeURIComponent(part.runId || turn.runId)}/${after ? 'confirm' : decision}`;
      const { confirmation } = await api.post(path, { confirmationId: part.id, ...(after && { answer: decision }), ...(args && { args, argsDigest: part.argsDigest }), ...(decision === 'confirm' && part.remember && { remember: part.remember }) });
      if (confirmation) resolveConfirmation(turn, { ...confirmation, confirmationId: part.id });
    } catch (err) {
      this.undecided(turn, part, err);
    }
    part.sending = '';
    this.wake();
    this.settled(turn);
  }

  undecided(turn, part, err) {
    const stands = err.problem?.confirmation;
    if (err.code === 'confirmation_replaced' && stands) { // another question has taken its place
      resolveConfirmation(turn, { confirmationId: part.id, status: 'CANCELLED', replacedBy: stands.confirmationId });
      askConfirmation(turn, stands);
      return;
    }
    if (stands?.status === 'OPEN') { // it is as it was
      Object.assign(part, { problem: 'refused', problemDetail: err.message });
      return;
    }
    const words = { 404: ['missing', 'GONE'], 409: ['conflict', 'DECIDED'], 410: ['late', 'EXPIRED'] };
    const [problem, status] = words[err.status] || [err.status === 0 ? 'network' : 'unknown', part.status];
    const stored = err.problem?.confirmation;
    const { status: now } = stored?.status ? stored : part.status === 'OPEN' ? { status } : part; // the stream may have been quicker
    if (now !== 'OPEN') resolveConfirmation(turn, { ...stored, confirmationId: part.id, status: now });
    Object.assign(part, { problem, problemDetail: err.message });
  }

  /** The question that waits in this conversation, if any. */
  get question() {
    for (const turn of this.turns) {
      const part = openConfirmation(turn);
      if (part && isActive(turn)) return part;
    }
    return null;
  }

  pause(attempt, most) {
    const ms = Math.min(most, 250 * 2 ** Math.min(attempt - 1, 8)) * (0.75 + Math.random() / 2);
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.wakers.delete(done);
        resolve();
      };
      const timer = setTimeout(done, ms);
      this.wakers.add(done);
    });
  }

  /** Ends every pause now: the network is back, the tab is visible, or a decision was made. */
  wake() {
    for (const done of [...this.wakers]) done();
  }
}
