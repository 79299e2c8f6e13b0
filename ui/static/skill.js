/** One skill: what it is, its version, what it needs, and the decision that a person has about it. */
import { html, useEffect, useRef, useState } from './vendor/htm-preact.js';
import { known, pick, t } from './i18n.js';
import { Icon } from './icons.js';
import { toolLabel } from './toolcard.js';

export function Skill({ skill, tools, whole, busy, changed, onChange }) {
  const [asking, setAsking] = useState(false);
  const name = pick(skill, 'name') || skill.id;
  const missing = (skill.permissions || []).filter((one) => !(skill.granted || []).includes(one));
  const state = stateOf(skill, missing);
  return html`<li class=${`skill ${skill.installed ? '' : 'is-absent'} ${changed ? 'was-changed' : ''}`} data-testid="skill"
      data-skill=${skill.id} data-enabled=${String(Boolean(skill.enabled))} data-installed=${String(Boolean(skill.installed))}>
    <div class="skill-head">
      <h2>${name}</h2>
      <span class="skill-version" data-testid="skill-version">${skill.version}</span>
      ${whole && html`<span class=${`status skill-state is-${state}`} data-testid="skill-state">${t(`skills.state.${state}`)}</span>`}
      <${Control} skill=${skill} name=${name} state=${state} busy=${busy} onChange=${onChange} onAsk=${() => setAsking(true)} />
    </div>
    <p class="skill-text">${pick(skill, 'description')}</p>
    ${asking && html`<${Question} skill=${skill} name=${name} tools=${tools} missing=${missing} onNo=${() => setAsking(false)}
      onYes=${() => { setAsking(false); onChange('install'); }} />`}
    <details class="skill-more" open=${whole}>
      <summary><${Icon} name="chevron" size="13" />${t('skills.details')}</summary>
      <${Permissions} skill=${skill} missing=${missing} />
      <${Tools} names=${skill.capabilities || []} tools=${tools} />
      <p class="skill-foot">
        <span>${t('skills.by', { publisher: skill.publisher || '', id: skill.id })}</span>
        ${skill.installed && state !== 'system' && html`<button type="button" class="link" disabled=${busy} data-testid="skill-uninstall"
          aria-label=${t('skills.uninstallOne', { name })} onClick=${() => onChange('uninstall')}>${t('skills.uninstall')}</button>`}
      </p>
    </details>
  </li>`;
}

/** Where the skill stands for this person: 'ungranted' is one whose new version asks for more than was granted. */
function stateOf(skill, missing) {
  if (skill.system) return 'system';
  if (!skill.installed) return 'absent';
  if (missing.length) return 'ungranted';
  return skill.enabled ? 'on' : 'off';
}

function Control({ skill, name, state, busy, onChange, onAsk }) {
  if (state === 'absent' || state === 'ungranted') {
    return html`<button type="button" class="button is-small" disabled=${busy} data-testid="skill-install"
      aria-label=${t(`skills.${state}.one`, { name })} onClick=${onAsk}>${t(`skills.${state}`)}</button>`;
  }
  const locked = state === 'system';
  return html`${locked && html`<span class="lock" title=${t('skills.system')}><${Icon} name="lock" size="15" />
      <span class="sr-only">${t('skills.system')}</span></span>`}
    <button type="button" class="switch" role="switch" aria-checked=${String(Boolean(skill.enabled))} disabled=${locked || busy}
      data-testid="skill-switch" aria-label=${t(skill.enabled ? 'skills.disable' : 'skills.enable', { name })}
      title=${locked ? t('skills.system') : undefined} onClick=${() => onChange(skill.enabled ? 'disable' : 'enable')}><span></span></button>`;
}

/** What a yes would mean, before it is given. */
function Question({ skill, name, tools, missing, onYes, onNo }) {
  const box = useRef(null);
  useEffect(() => { box.current.focus(); }, []);
  const writes = (skill.capabilities || []).map((one) => tools.get(one)).filter((tool) => tool?.enabled && !tool.readOnly)
    .map((tool) => (tool.requiresConfirmation ? t('skills.asksFirst', { tool: toolLabel(tool.name) }) : toolLabel(tool.name)));
  return html`<section class="skill-question" role="group" tabindex="-1" ref=${box} data-testid="skill-question"
      aria-label=${t(skill.installed ? 'skills.askMore' : 'skills.ask', { name })}>
    <h3>${t(skill.installed ? 'skills.askMore' : 'skills.ask', { name })}</h3>
    <ul class="grants">${missing.map((one) => html`<li key=${one}>${permissionLabel(one)}</li>`)}
      ${missing.length === 0 && html`<li>${t('skills.noPermissions')}</li>`}</ul>
    ${writes.length > 0 && html`<p>${t('skills.writes', { tools: writes.join(t('list.and')) })}</p>`}
    <div class="skill-buttons">
      <button type="button" class="button is-small" onClick=${onNo}>${t('skills.no')}</button>
      <button type="button" class="button is-small is-primary" data-testid="skill-agree" onClick=${onYes}>${t('skills.yes')}</button>
    </div>
  </section>`;
}

function permissionLabel(name) {
  return known(`permission.${name}`, name);
}

function Permissions({ skill, missing }) {
  if (!skill.permissions?.length) return null;
  return html`<div class="needs" data-testid="skill-permissions">
    <h3>${t('skills.permissions')}</h3>
    <ul>${skill.permissions.map((one) => html`<li key=${one} data-granted=${String(!missing.includes(one))}>
      <span>${permissionLabel(one)}</span><code>${one}</code>
      <span class=${missing.includes(one) ? 'not-granted' : 'granted'}>${t(missing.includes(one) ? 'skills.notGranted' : 'skills.granted')}</span>
    </li>`)}</ul>
  </div>`;
}

function Tools({ names, tools }) {
  return html`<div class="needs" data-testid="skill-tools">
    <h3>${t('skills.capabilities')}</h3>
    <ul>${names.map((name) => {
      const tool = tools.get(name);
      return html`<li key=${name}><span>${toolLabel(name)}</span><code>${name}</code>
        ${tool && html`<span class=${`badge badge-${tool.kind.toLowerCase()}`}>${tool.kind}</span><span class="effect">${t(effectOf(tool))}</span>`}</li>`;
    })}</ul>
  </div>`;
}

function effectOf(tool) {
  if (!tool.enabled) return 'effect.off';
  if (tool.requiresConfirmation) return 'effect.asks';
  return tool.readOnly ? 'effect.reads' : 'effect.writes';
}
