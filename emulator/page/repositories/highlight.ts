import dockerfile from 'highlight.js/lib/languages/dockerfile';
import { common, createLowlight } from 'lowlight';

/*
 * Syntax highlighting of files. The page loads this module only when the user opens a file. The other parts of the page
 * therefore load without the grammars.
 */

/**
 * Part of a line of source code that has one colour, such as a keyword. `kind` is the name of the colour in the style
 * sheet, such as `keyword`; undefined for plain text.
 */
export interface Token {
  readonly text: string;
  readonly kind?: string | undefined;
}

const lowlight = createLowlight({ ...common, dockerfile });

/** Additional file extensions and file names by language. The grammars of the library lowlight do not list them. */
lowlight.registerAlias({
  bash: ['bashrc', 'profile'],
  ini: ['conf', 'gitconfig', 'editorconfig', 'npmrc'],
  python: ['pyi'],
  ruby: ['gemfile', 'rakefile'],
  xml: ['htm', 'vue'],
});

/**
 * Maximum number of UTF-16 code units of a highlighted file (`characters`) and of each of its lines (`line`). Files
 * above a limit are shown without colours, because highlighting them would block the browser.
 */
const MOST = { characters: 300_000, line: 2_000 };

type Tree = ReturnType<typeof lowlight.highlight>;
type Node = Tree['children'][number];

/**
 * Returns the coloured parts of each line of a file. Returns undefined if the language is unknown or the file is too
 * long. The file name or its extension determines the language.
 */
export function highlight(path: string, text: string): Token[][] | undefined {
  const language = path.slice(Math.max(path.lastIndexOf('/'), path.lastIndexOf('.')) + 1).toLowerCase();
  const isLong = text.length > MOST.characters || text.split('\n').some((line) => line.length > MOST.line);
  if (isLong || !lowlight.registered(language)) return undefined;
  const lines: Token[][] = [[]];
  // An explicit stack is used instead of recursion, because a file can produce a tree so deep that the call stack
  // overflows.
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

/**
 * Returns the name of the colour for CSS classes of lowlight: `hljs-keyword` → `keyword`. Only the first class counts,
 * such as `hljs-title` in `hljs-title function_`. Returns undefined if the first class is not a class of lowlight.
 */
function kindOf(names: unknown): string | undefined {
  const first: unknown = Array.isArray(names) ? names[0] : undefined;
  return typeof first === 'string' && first.startsWith('hljs-') ? first.slice('hljs-'.length) : undefined;
}
