/**
 * Markdown of answers, drawn safely and cheaply: finished blocks are frozen, so
 * that a long answer costs one small parse a frame and not one large one.
 */
import { Marked } from './vendor/marked.js';
import DOMPurify from './vendor/purify.js';
import { Component, html } from './vendor/htm-preact.js';
import { lang, t } from './i18n.js';

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };
const escape = (text) => text.replace(/[&<>"']/g, (c) => escapes[c]);

const marked = new Marked({
  gfm: true,
  breaks: true,
  renderer: {
    // Raw HTML of an answer is text, whatever it says.
    html: ({ text }) => (/^<br\s*\/?>$/i.test(text.trim()) ? '<br>' : escape(text)),
    // An image would be fetched from wherever the answer says, with whatever it puts in the address.
    image: ({ href, text }) => `<a href="${escape(href)}">${escape(t('chat.image', { alt: text || href }))}</a>`,
    checkbox: ({ checked }) => (checked ? '☑ ' : '☐ '),
    code: ({ text, lang: name }) => `<div class="code"><div class="code-bar"><span>${escape(name || '')}</span>`
      + `<button type="button" class="copy">${escape(t('chat.copy'))}</button></div>`
      + `<pre tabindex="0"><code>${escape(text)}</code></pre></div>`,
    table(token) {
      const row = (cells, tag) => `<tr>${cells.map((cell) => `<${tag}${cell.align ? ` class="${cell.align}"` : ''}>`
        + `${this.parser.parseInline(cell.tokens)}</${tag}>`).join('')}</tr>`;
      return `<div class="table"><table><thead>${row(token.header, 'th')}</thead>`
        + `<tbody>${token.rows.map((cells) => row(cells, 'td')).join('')}</tbody></table></div>`;
    },
  },
});

const purifier = DOMPurify(window);
purifier.addHook('afterSanitizeAttributes', (node) => {
  if (node.tagName !== 'A') return;
  node.setAttribute('target', '_blank');
  node.setAttribute('rel', 'noopener noreferrer nofollow');
});
const policy = {
  ALLOWED_TAGS: ['a', 'b', 'blockquote', 'br', 'button', 'code', 'del', 'div', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr',
    'i', 'li', 'ol', 'p', 'pre', 's', 'span', 'strong', 'sub', 'sup', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul'],
  ALLOWED_ATTR: ['href', 'title', 'class', 'start', 'type', 'tabindex', 'target', 'rel'],
  ALLOWED_URI_REGEXP: /^(?:https?:|mailto:)/i,
  ALLOW_DATA_ATTR: false,
  ALLOW_ARIA_ATTR: false,
};

/** @param {string} text @returns {string} markup that may go into the page */
export function render(text) {
  return purifier.sanitize(marked.parse(text), policy);
}

/** Splits at blank lines, but not inside code fences nor before lines that continue a list. */
export function splitBlocks(text) {
  const blocks = [];
  let block = [];
  let fence = '';
  let blank = false;
  for (const line of text.split('\n')) {
    const mark = /^ {0,3}(`{3,}|~{3,})/.exec(line)?.[1];
    if (!fence && blank && block.length > 0 && !/^(\s|[-*+] |\d+[.)] |\|)/.test(line)) {
      blocks.push(block.join('\n'));
      block = [];
    }
    if (mark && !fence) fence = mark;
    else if (mark && mark[0] === fence[0] && mark.length >= fence.length && line.trim() === mark) fence = '';
    blank = line.trim() === '' && !fence;
    block.push(line);
  }
  blocks.push(block.join('\n'));
  return blocks;
}

class Block extends Component {
  shouldComponentUpdate(next) {
    return next.text !== this.props.text || next.language !== this.props.language;
  }

  render({ text }) {
    return html`<div class="block" dangerouslySetInnerHTML=${{ __html: render(text) }}></div>`;
  }
}

/** One text of an answer. While it grows only its last block is parsed; at the end the whole once more. */
export function Markdown({ text, done }) {
  const blocks = done ? [text] : splitBlocks(text);
  return html`<div class="markdown">
    ${blocks.map((block, i) => html`<${Block} key=${i} text=${block} language=${lang()} />`)}
  </div>`;
}
