/** A part of a line of code; `kind` is what the style sheet colours it by, as `keyword`. */
export interface Token {
  readonly text: string;
  readonly kind?: string | undefined;
}

/** Languages by the ends of names, and by whole names. */
const LANGUAGES: Readonly<Record<string, readonly string[]>> = {
  bash: ['.sh', '.bash', '.zsh', '.bashrc', '.profile'],
  c: ['.c', '.h'],
  cpp: ['.cc', '.cpp', '.cxx', '.hpp', '.hh'],
  css: ['.css'],
  dockerfile: ['dockerfile', '.dockerfile'],
  go: ['.go'],
  ini: ['.ini', '.toml', '.conf', '.gitconfig', '.editorconfig', '.npmrc'],
  java: ['.java', '.kt'],
  javascript: ['.js', '.mjs', '.cjs', '.jsx'],
  json: ['.json', '.jsonc', '.json5'],
  makefile: ['makefile', '.mk'],
  markdown: ['.md', '.markdown'],
  python: ['.py', '.pyi'],
  ruby: ['.rb', '.gemspec', 'gemfile', 'rakefile'],
  rust: ['.rs'],
  sql: ['.sql'],
  typescript: ['.ts', '.tsx', '.mts', '.cts'],
  xml: ['.html', '.htm', '.xml', '.svg', '.xhtml', '.vue'],
  yaml: ['.yaml', '.yml'],
};

/** Text beyond, or with a longer line, is not taken apart: that would keep the browser busy. */
const MOST = { characters: 300_000, line: 2_000 };

/** The language of a file by its name, or undefined where it is shown as it is. */
export function languageOf(path: string, text: string, longestLine: number): string | undefined {
  if (text.length > MOST.characters || longestLine > MOST.line) return undefined;
  const name = path.slice(path.lastIndexOf('/') + 1).toLowerCase();
  const found = Object.entries(LANGUAGES).find(([, ends]) =>
    ends.some((end) => (end.startsWith('.') ? name.endsWith(end) : name === end)),
  );
  return found?.[0];
}
