import bash from 'highlight.js/lib/languages/bash';
import c from 'highlight.js/lib/languages/c';
import cpp from 'highlight.js/lib/languages/cpp';
import css from 'highlight.js/lib/languages/css';
import dockerfile from 'highlight.js/lib/languages/dockerfile';
import go from 'highlight.js/lib/languages/go';
import ini from 'highlight.js/lib/languages/ini';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import makefile from 'highlight.js/lib/languages/makefile';
import markdown from 'highlight.js/lib/languages/markdown';
import python from 'highlight.js/lib/languages/python';
import ruby from 'highlight.js/lib/languages/ruby';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';
import { createLowlight } from 'lowlight';
import type { Token } from './languages.js';

/* In a chunk of its own: nobody needs it before the first file is open. */

const lowlight = createLowlight({
  bash,
  c,
  cpp,
  css,
  dockerfile,
  go,
  ini,
  java,
  javascript,
  json,
  makefile,
  markdown,
  python,
  ruby,
  rust,
  sql,
  typescript,
  xml,
  yaml,
});

type Tree = ReturnType<typeof lowlight.highlight>;
type Node = Tree['children'][number];

/** The lines of a text with the kinds of their tokens. */
export function highlight(language: string, text: string): Token[][] {
  const lines: Token[][] = [[]];
  // No recursion: what is nested in a file is nested in the tree.
  const left: { readonly node: Node; readonly kind: string | undefined }[] = [];
  const put = (nodes: readonly Node[], kind: string | undefined) => {
    for (let at = nodes.length - 1; at >= 0; at--) left.push({ node: nodes[at]!, kind });
  };
  put(lowlight.highlight(language, text).children, undefined);
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { node, kind } = next;
    if (node.type === 'element') put(node.children as Node[], kindOf(node.properties.className) ?? kind);
    else if (node.type === 'text') addText(lines, node.value, kind);
  }
  return lines;
}

function addText(lines: Token[][], value: string, kind: string | undefined): void {
  for (const [at, text] of value.split('\n').entries()) {
    if (at > 0) lines.push([]);
    if (text !== '') lines.at(-1)!.push({ text, kind });
  }
}

/** `hljs-keyword` is `keyword`; of `hljs-title function_` the first counts. */
function kindOf(names: unknown): string | undefined {
  const first: unknown = Array.isArray(names) ? names[0] : undefined;
  return typeof first === 'string' && first.startsWith('hljs-') ? first.slice('hljs-'.length) : undefined;
}
