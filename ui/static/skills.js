/** The skill market: what may be used to answer, and what each skill is allowed to do. */
import { html, useEffect, useState } from './vendor/htm-preact.js';
import * as api from './api.js';
import { why } from './format.js';
import { pick, t } from './i18n.js';
import { Icon } from './icons.js';
import { toolLabel } from './toolcard.js';

const market = '/skill-marketplace';

export function Skills() {
  const [skills, setSkills] = useState(null);
  const [error, setError] = useState(null);
  const [busy, setBusy] = useState('');

  const load = async () => {
    try {
      setSkills(await api.list(market));
    } catch (err) {
      setError(err);
    }
  };
  useEffect(() => { load(); }, []);

  /** One change at a time; the list is read again whatever happened. */
  const change = async (skill, action) => {
    if (busy) return;
    setBusy(skill.id);
    setError(null);
    const path = `${market}/${encodeURIComponent(skill.id)}`;
    try {
      if (action === 'uninstall') await api.remove(path);
      else await api.post(`${path}/${action}`, {});
    } catch (err) {
      setError(err);
    }
    await load();
    setBusy('');
  };

  return html`<div data-testid="skills">
    <p class="panel-intro">${t('skills.intro')}</p>
    ${error && html`<p class="state is-bad" role="alert" data-testid="skills-error">
      ${skills ? why(error) : t('skills.error', { why: why(error) })}</p>`}
    ${skills?.length === 0 && html`<p class="panel-empty">${t('skills.empty')}</p>`}
    <ul class="cards">
      ${(skills || []).map((skill) => html`<${Skill} key=${skill.id} skill=${skill} busy=${busy === skill.id}
        onChange=${(action) => change(skill, action)} />`)}
    </ul>
  </div>`;
}

function Skill({ skill, busy, onChange }) {
  const name = pick(skill, 'name') || skill.id;
  const locked = skill.system || skill.alwaysOn;
  return html`<li class=${`skill ${skill.installed ? '' : 'is-absent'}`} data-testid="skill" data-skill=${skill.id}
      data-enabled=${String(Boolean(skill.enabled))} data-installed=${String(Boolean(skill.installed))}>
    <div class="skill-head">
      <h3>${name}</h3>
      ${locked && html`<span class="lock" title=${t('skills.system')}><${Icon} name="lock" size="15" />
        <span class="sr-only">${t('skills.system')}</span></span>`}
      ${skill.installed
        ? html`<button type="button" class="switch" role="switch" aria-checked=${String(Boolean(skill.enabled))}
            disabled=${locked || busy} data-testid="skill-switch" aria-label=${t(skill.enabled ? 'skills.disable' : 'skills.enable', { name })}
            title=${locked ? t('skills.system') : undefined}
            onClick=${() => onChange(skill.enabled ? 'disable' : 'enable')}><span></span></button>`
        : html`<button type="button" class="button is-small" disabled=${busy} data-testid="skill-install"
            onClick=${() => onChange('install')}>${t('skills.install')}</button>`}
    </div>
    <p class="skill-text">${pick(skill, 'description')}</p>
    <details class="skill-more">
      <summary><${Icon} name="chevron" size="13" />${t('skills.details')}</summary>
      <${Tags} label=${t('skills.permissions')} values=${skill.permissions} testid="skill-permissions" />
      <${Tags} label=${t('skills.capabilities')} values=${(skill.capabilities || []).map(toolLabel)} />
      <p class="skill-foot">
        <span>${t('skills.by', { publisher: skill.publisher || '', version: skill.version || '' })}</span>
        ${skill.installed && !locked && html`<button type="button" class="link" disabled=${busy} data-testid="skill-uninstall"
          onClick=${() => onChange('uninstall')}>${t('skills.uninstall')}</button>`}
        ${!skill.installed && html`<span>${t('skills.notInstalled')}</span>`}
      </p>
    </details>
  </li>`;
}

function Tags({ label, values, testid }) {
  if (!values?.length) return null;
  return html`<div class="tags" data-testid=${testid}>
    <span>${label}</span>${values.map((value) => html`<code key=${value}>${value}</code>`)}
  </div>`;
}
