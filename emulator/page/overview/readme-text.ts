/** Names of README files in lower case. The first name that the root folder of a repository contains is chosen. */
const NAMES: readonly string[] = [
  'readme.md',
  'readme',
  'readme.txt',
  'readme.markdown',
  'readme.mdown',
  'readme.mkdn',
  'readme.rst',
  'readme.adoc',
  'readme.asciidoc',
  'readme.org',
  'readme.textile',
  'readme.rdoc',
  'readme.pod',
];

/**
 * Returns the entry of the README in a folder, or undefined if the folder has none. The comparison of names ignores
 * case. Folders and submodules with such a name are ignored.
 */
export function findReadme<T extends { readonly name: string; readonly type: string }>(
  entries: readonly T[],
): T | undefined {
  const byName = new Map<string, T>();
  for (const entry of entries) {
    const name = entry.name.toLowerCase();
    if (entry.type === 'blob' && !byName.has(name)) byName.set(name, entry);
  }
  return NAMES.map((name) => byName.get(name)).find((entry) => entry !== undefined);
}

/** Returns the first `max` lines of a text, without the line feed after the last of them. */
export function firstLines(text: string, max: number): string {
  let end = -1;
  for (let line = 0; line < max; line++) {
    end = text.indexOf('\n', end + 1);
    if (end < 0) return text;
  }
  return text.slice(0, end);
}
