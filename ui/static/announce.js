/** Says something to screen readers, politely: the conversation itself would be read piece by piece. */
let region = null;

export function announceIn(element) {
  region = element;
}

/** @param {string} text Markdown marks are dropped */
export function announce(text) {
  if (!region) return;
  const line = document.createElement('p');
  line.textContent = text.replace(/[*_`#>|]/g, '').trim();
  region.append(line);
  while (region.childElementCount > 5) region.firstElementChild.remove();
}
