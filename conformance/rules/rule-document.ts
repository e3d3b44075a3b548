import { type AmbiguityRow, ambiguityRows } from '../specification/ambiguities.js';
import { type Rule, SECTIONS } from './rule.js';

/**
 * Returns the Markdown text of `conformance/SPECIFICATION.md`. It has one table of rules per section, then the
 * specification's ambiguities that concern these rules. The anchor of a rule is its id, that of an ambiguity its code.
 */
export function writeRuleDocument(rules: readonly Rule[]): string {
  const ids = new Set(rules.map(({ id }) => id));
  const ambiguities = ambiguityRows().filter((row) => row.rules.some((id) => ids.has(id)));
  const codes = new Map<string, string[]>();
  for (const { code, rules: concerned } of ambiguities) {
    for (const id of concerned) codes.set(id, [...(codes.get(id) ?? []), code]);
  }
  const sections = SECTIONS.map((section) => {
    const rows = rules.filter((rule) => rule.section === section);
    return rows.length === 0 ? '' : `${sectionTable(section, rows, codes)}\n`;
  });
  const known = (id: string) => ids.has(id);
  return `\n${sections.join('')}${ambiguities.length === 0 ? '' : ambiguitySection(ambiguities, known)}`;
}

function sectionTable(section: string, rules: readonly Rule[], codes: ReadonlyMap<string, readonly string[]>): string {
  const rows = rules.map(({ id, says, clauses = {}, level, reach }) => {
    const links = (codes.get(id) ?? []).map((code) => `[${code}](#${code})`).join(', ');
    const sentences = [says, ...Object.values(clauses).map((clause) => `• ${clause}`)];
    return `| <a id="${id}"></a>\`${id}\` | ${sentences.map(escapeMarkdown).join('<br>')} | ${level} | ${reach} | ${links} |`;
  });
  return `## ${section}\n\n| Rule | Sentence | Level | Reach | Open |\n| --- | --- | --- | --- | --- |\n${rows.join('\n')}\n`;
}

function ambiguitySection(rows: readonly AmbiguityRow[], isPrinted: (id: string) => boolean): string {
  const overview = rows.map(
    ({ code, title, variants }) =>
      `| [${code}](#${code}) | ${escapeMarkdown(title)} | ${variants.map(inCode).join(', ')} |`,
  );
  const table = `| Code | Subject | Variants |\n| --- | --- | --- |\n${overview.join('\n')}\n`;
  return `## Contradictions and gaps\n\n${table}\n${rows.map((row) => ambiguityText(row, isPrinted)).join('\n')}\n`;
}

function ambiguityText(row: AmbiguityRow, isPrinted: (id: string) => boolean): string {
  const { code, title, kind, texts, emulator, variants, rules } = row;
  const names = variants.map(inCode).join(', ');
  const change =
    names === '' ? [] : ['', `To change this, set ${variants.length === 1 ? 'the variant' : 'a variant'}: ${names}.`];
  const links = rules.map((id) => (isPrinted(id) ? `[\`${id}\`](#${id})` : inCode(id)));
  const lines = [
    `### <a id="${code}"></a>${code}: ${escapeMarkdown(title)}`,
    '',
    kind === 'contradiction' ? '**Specification:** contradictory.' : '**Specification:** open.',
    '',
    ...texts.map((text) => `- ${escapeMarkdown(text)}`),
    '',
    escapeMarkdown(emulator),
    ...change,
    '',
    `<details><summary>Rules: ${rules.length}</summary>\n\n- ${links.join('\n- ')}\n\n</details>`,
  ];
  return `${lines.join('\n')}\n`;
}

function inCode(text: string): string {
  return `\`${text}\``;
}

/** Escapes Markdown characters in a text, except in code spans. */
function escapeMarkdown(text: string): string {
  return text
    .split('`')
    .map((part, index) => (index % 2 === 0 ? part.replace(/[*<>|]|(?<!\w)_|_(?!\w)/g, '\\$&') : part))
    .join('`');
}
