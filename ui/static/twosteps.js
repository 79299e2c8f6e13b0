/** A deed that takes two steps: a button that asks, then one that does it and one that leaves it. Keeps the focus. */
import { html, useEffect, useRef, useState } from './vendor/htm-preact.js';

/**
 * @param {{id: string, ask: string[], yes: string[], no: string, onYes: () => Promise<boolean>}} props
 *   id: of the tests; ask and yes: what the button shows, and its whole name;
 *   onYes: whether it was done; then these buttons are about to go, and the focus is the caller's
 */
export function TwoSteps({ id, ask, yes, no, onYes }) {
  const [asked, setAsked] = useState(false);
  const first = useRef(null);
  const before = useRef(asked);
  const busy = useRef(false);
  useEffect(() => {
    if (asked !== before.current) first.current?.focus();
    before.current = asked;
  }, [asked]);
  const go = async () => {
    if (busy.current) return;
    busy.current = true;
    const done = await onYes();
    busy.current = false;
    if (!done) setAsked(false);
  };
  if (!asked) {
    return html`<span class="two-steps"><button type="button" key="ask" class="button is-small" ref=${first} aria-label=${ask[1]}
      data-testid=${id} onClick=${() => setAsked(true)}>${ask[0]}</button></span>`;
  }
  return html`<span class="two-steps">
    <button type="button" key="yes" class="button is-small is-bad" ref=${first} aria-label=${yes[1]}
      data-testid=${`${id}-yes`} onClick=${go}>${yes[0]}</button>
    <button type="button" key="no" class="button is-small" data-testid=${`${id}-no`} onClick=${() => setAsked(false)}>${no}</button>
  </span>`;
}
