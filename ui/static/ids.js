/** Ids and small settings that outlive a reload. */

/** @param {string} kind @returns {string} like "thread-1f6c…" */
export function newId(kind) {
  return `${kind}-${uuid()}`;
}

// crypto.randomUUID exists in secure contexts only; a page on plain HTTP from another machine is none.
function uuid() {
  if (crypto.randomUUID) return crypto.randomUUID();
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  bytes[6] = (bytes[6] & 0x0f) | 0x40;
  bytes[8] = (bytes[8] & 0x3f) | 0x80;
  const hex = [...bytes].map((b) => b.toString(16).padStart(2, '0')).join('');
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}

/** Reads a setting; null where there is none or storage is switched off. */
export function recall(key) {
  try {
    return localStorage.getItem(`agentmesh.${key}`);
  } catch {
    return null;
  }
}

/** Writes a setting, or removes it when value is null. */
export function keep(key, value) {
  try {
    if (value === null) localStorage.removeItem(`agentmesh.${key}`);
    else localStorage.setItem(`agentmesh.${key}`, value);
  } catch { /* the setting then lasts as long as the page */ }
}
