/** The skill market: what may be used to answer, and what each skill is allowed to do. */
import { html, useEffect, useRef, useState } from './vendor/htm-preact.js';
import * as api from './api.js';
import { announce } from './announce.js';
import { why } from './format.js';
import { pick, t } from './i18n.js';
import { Skill } from './skill.js';

const market = '/skill-marketplace';

export function SkillsView({ tools }) {
  return html`<p class="view-intro">${t('skills.rule')}</p><${Skills} tools=${tools} whole />`;
}

/** @param {{tools: Map<string, object>, whole?: boolean}} props whole: with all details in the open */
export function Skills({ tools, whole }) {
  const [skills, setSkills] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState('');
  const list = useRef(null);

  const load = async () => {
    try {
      setSkills(await api.list(market));
    } catch (err) {
      setError(err);
    }
  };
  useEffect(() => { load(); }, []);
  useEffect(() => {
    if (busy || document.activeElement !== document.body) return;
    list.current.querySelector('.was-changed .skill-head button')?.focus(); // the button that was pressed is gone
  }, [busy]);

  /** One change at a time; the list is read again whatever happened. */
  const change = async (skill, action) => {
    if (busy) return;
    setBusy(skill.id);
    setError(null);
    try {
      await send(skill, action);
      announce(t(`skills.done.${action}`, { name: pick(skill, 'name') }));
    } catch (err) {
      setError(err);
    }
    await load();
    setBusy('');
  };
  const changed = useRef('');
  if (busy) changed.current = busy;

  return html`<div data-testid="skills">
    ${!whole && html`<p class="panel-intro">${t('skills.intro')} <a href="#/skills">${t('skills.market')}</a></p>`}
    ${error && html`<p class="state is-bad" role="alert" data-testid="skills-error">
      ${skills ? why(error) : t('skills.error', { why: why(error) })}</p>`}
    ${skills?.length === 0 && html`<p class="panel-empty">${t('skills.empty')}</p>`}
    <ul class="cards" ref=${list}>
      ${(skills || []).map((skill) => html`<${Skill} key=${skill.id} skill=${skill} tools=${tools} whole=${whole}
        busy=${busy === skill.id} changed=${changed.current === skill.id} onChange=${(action) => change(skill, action)} />`)}
    </ul>
  </div>`;
}

/** What is agreed to goes along: a permission that was asked for meanwhile is refused, not slipped in. */
function send(skill, action) {
  const path = `${market}/${encodeURIComponent(skill.id)}`;
  if (action === 'uninstall') return api.remove(path);
  return api.post(`${path}/${action}`, action === 'install' ? { permissions: skill.permissions || [] } : {});
}
