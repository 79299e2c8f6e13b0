/**
 * Reads text/event-stream answers of fetch. EventSource cannot POST, cannot say
 * why it failed and hides where it stands, so the page has its own reader.
 */

const IDLE_MS = 60_000; // the server sends a comment every 15 s

/**
 * Makes a parser; feed it decoded text in any pieces.
 * @param {(event: {id: string, data: string}) => void} onEvent
 */
export function createParser(onEvent) {
  let buffer = '';
  let id = '';
  let data = [];

  const dispatch = () => {
    if (data.length > 0) onEvent({ id, data: data.join('\n') });
    data = [];
  };
  const field = (line) => {
    if (line === '') return dispatch();
    const colon = line.indexOf(':');
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(colon + 1).replace(/^ /, '');
    if (name === 'data') data.push(value);
    if (name === 'id' && !value.includes('\0')) id = value;
  };

  return (text) => {
    buffer += text;
    const lineEnd = /\r\n|\n|\r(?=[^])/g; // a CR at the very end may be half of CRLF
    let start = 0;
    for (let end = lineEnd.exec(buffer); end; end = lineEnd.exec(buffer)) {
      field(buffer.slice(start, end.index));
      start = lineEnd.lastIndex;
    }
    buffer = buffer.slice(start);
  };
}

/**
 * Reads one answer to its end. Throws when the connection breaks or falls silent.
 * @param {Response} response
 * @param {(event: object, id: string) => void} onEvent gets each parsed AG-UI event
 */
export async function readEvents(response, onEvent) {
  const reader = response.body.getReader();
  const decoder = new TextDecoder(); // one for the whole stream: a character may fall on a border
  const push = createParser(({ id, data }) => {
    let event;
    try {
      event = JSON.parse(data);
    } catch {
      return; // not ours
    }
    onEvent(event, id);
  });
  try {
    for (;;) {
      const { done, value } = await withLimit(reader.read(), IDLE_MS);
      if (done) return;
      push(decoder.decode(value, { stream: true }));
    }
  } finally {
    reader.cancel().catch(() => {});
  }
}

function withLimit(promise, ms) {
  let timer;
  const silent = new Promise((_, fail) => {
    timer = setTimeout(() => fail(new Error('the stream fell silent')), ms);
  });
  return Promise.race([promise, silent]).finally(() => clearTimeout(timer));
}
