/** Looks after what goes on in the background of a conversation: its end, the run that tells of it, and a wish to stop it. */
import * as api from './api.js';
import { endTask } from './turn.js';

const LOOK_MS = 3000;

export class Tasks {
  constructor(chat) {
    this.chat = chat;
    this.told = new Set(); // tasks of which the page has shown all that there is
    this.watching = false;
  }

  /** Looks until every task has ended and been told of. */
  async watch() {
    if (this.watching) return;
    this.watching = true;
    while (this.open().length > 0) {
      await this.look().catch(() => {}); // the network is gone: looked at again
      if (this.open().length > 0) await this.chat.pause(5, LOOK_MS);
    }
    this.watching = false;
  }

  open() {
    return this.chat.turns.flatMap((turn) => turn.parts).filter(({ taskId }) => taskId && !this.told.has(taskId));
  }

  async look() {
    for (const { taskId } of this.open()) {
      try {
        this.see(await api.get(`/tasks/${encodeURIComponent(taskId)}`));
      } catch (err) {
        if (err.status !== 404) throw err;
        this.told.add(taskId); // deleted
      }
    }
  }

  see(task) {
    if (task.status === 'RUNNING') return;
    const { chat } = this;
    for (const turn of chat.turns) endTask(turn, { ...task, taskId: task.id });
    if (task.deliveredRun) {
      this.told.add(task.id);
      if (!chat.turns.some((turn) => turn.runId === task.deliveredRun)) chat.follow(chat.turnOfRun(task.deliveredRun));
    }
    chat.hooks.onSettled();
    chat.changed();
  }

  async stop(part) {
    const { chat } = this;
    const turn = chat.turns.find((one) => one.parts.includes(part));
    part.stopping = true;
    chat.changed(turn);
    try {
      this.see((await api.post(`/tasks/${encodeURIComponent(part.taskId)}/cancel`, {})).task);
    } catch (err) {
      if (err.status !== 409) chat.notice = { code: 'stop', detail: err.message };
    }
    part.stopping = false;
    chat.changed(turn);
    chat.wake();
  }
}
