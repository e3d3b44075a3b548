import dockerfile from 'highlight.js/lib/languages/dockerfile';
import { common, createLowlight } from 'lowlight';

/* In a chunk of its own: nobody needs it before the first file is open. */

/** A part of a line of code; `kind` is what the style sheet colours it by, as `keyword`. */
export interface Token {
  readonly text: string;
  readonly kind?: string | undefined;
}

const lowlight = createLowlight({ ...common, dockerfile });

/** Ends of names, and whole names, that the grammars do not know as theirs. */
lowlight.registerAlias({
  bash: ['bashrc', 'profile'],
  ini: ['conf', 'gitconfig', 'editorconfig', 'npmrc'],
  python: ['pyi'],
  ruby: ['gemfile', 'rakefile'],
  xml: ['htm', 'vue'],
});

/** Text beyond, or with a longer line, is not taken apart: that would keep the browser busy. */
const MOST = { characters: 300_000, line: 2_000 };

type Tree = ReturnType<typeof lowlight.highlight>;
type Node = Tree['children'][number];

/** The lines of a file with the kinds of their tokens; undefined if it is shown as it is. */
export function highlight(path: string, text: string): Token[][] | undefined {
  const language = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('.')) + 1).toLowerCase();
  const isLong = text.length > MOST.characters || text.split('\n').some((line) => line.length > MOST.line);
  if (isLong || !lowlight.registered(language)) return undefined;
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
