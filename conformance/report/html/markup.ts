import { createHash } from 'node:crypto';
import { visible } from '../reporter.js';
import { SCRIPT } from './script.js';
import { STYLE } from './style.js';

/** Character references for characters with a special meaning in HTML and XML. */
export const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '\r': '&#13;',
};

/** Escapes text for use between HTML tags or in a quoted attribute. Control characters are shown as visible text. */
export function escapeHtml(text: string): string {
  return visible(text).replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}

/** Returns an HTML element that contains only text. Escapes the text and the attribute values. */
export function element(name: string, text: string, attributes: Readonly<Record<string, string>> = {}): string {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${escapeHtml(value)}"`);
  return `<${name}${written.join('')}>${escapeHtml(text)}</${name}>`;
}

function sourceOf(code: string): string {
  return `'sha256-${createHash('sha256').update(code).digest('base64')}'`;
}

/**
 * Returns an HTML page without external files. Its Content-Security-Policy permits only this package's style and
 * script. An empty icon keeps browsers from requesting `favicon.ico`.
 */
export function page(title: string, body: string): string {
  const policy = [
    "default-src 'none'",
    `style-src ${sourceOf(STYLE)}`,
    `script-src ${sourceOf(SCRIPT)}`,
    'img-src data:',
    "base-uri 'none'",
    "form-action 'none'",
  ].join('; ');
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escapeHtml(policy)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="referrer" content="no-referrer">
<link rel="icon" href="data:,">
${element('title', title)}
<style>${STYLE}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the rules</a>
${body}
<script>${SCRIPT}</script>
</body>
</html>
`;
}
