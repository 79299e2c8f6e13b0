/** What the middle of the page shows when it is not a conversation. */
import { html } from './vendor/htm-preact.js';
import { AuditView } from './audit.js';
import { MemoryView } from './memory.js';
import { OrdersView } from './orders.js';
import { RunView } from './run.js';
import { SkillsView } from './skills.js';

const bodies = { orders: OrdersView, skills: SkillsView, memory: MemoryView, audit: AuditView, runs: RunView };

/**
 * @param {{place: object, tools: Map<string, object>, version: number, onChanged: () => void}} props
 *   version: counts changes at the server; onChanged: there was one
 */
export function View({ place, tools, version, onChanged }) {
  return html`<div class="view">
    <div class="view-column" data-testid=${`view-${place.view}`}>
      <${bodies[place.view]} key=${place.view + place.id} place=${place} tools=${tools} version=${version} onChanged=${onChanged} />
    </div>
  </div>`;
}
